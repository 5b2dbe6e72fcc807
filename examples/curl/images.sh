#!/usr/bin/env bash
# Makes an image (fox.png), then edits it (fox-in-snow.png).
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

# Writes the image of an answer ($1) to a file ($2). With jq: jq -r '.data[0].b64_json' | base64 -d
save_image() {
  sed -n 's/.*"b64_json": *"\([^"]*\)".*/\1/p' <<<"$1" | base64 -d >"$2"
  echo "saved $2, $(wc -c <"$2") bytes"
}

made=$(curl -sS --fail-with-body "$TOLLGATE_URL/v1/images/generations" \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" \
  -d '{ "model": "openai/gpt-image-1-mini", "prompt": "A red fox", "size": "1024x1024", "quality": "low" }')
save_image "$made" fox.png

edited=$(curl -sS --fail-with-body "$TOLLGATE_URL/v1/images/edits" \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \
  -F model=openai/gpt-image-1-mini -F prompt="The same fox in snow" -F quality=low -F image=@fox.png)
save_image "$edited" fox-in-snow.png
