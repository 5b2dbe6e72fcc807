#!/usr/bin/env bash
# Orders a video, waits for it, and downloads it (fox.mp4).
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

# A text of an answer ($1) by its name ($2). With jq: jq -r ".$2"
text_in() { sed -n "s/.*\"$2\": *\"\([^\"]*\)\".*/\1/p" <<<"$1"; }

video=$(curl -sS --fail-with-body "$TOLLGATE_URL/v1/videos" \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" \
  -d '{ "model": "openai/sora-2", "prompt": "A red fox in snow", "seconds": "4" }')
id=$(text_in "$video" id)
status=$(text_in "$video" status)
while [ "$status" = queued ] || [ "$status" = in_progress ]; do
  echo "$status"
  sleep 2
  video=$(curl -sS --fail-with-body "$TOLLGATE_URL/v1/videos/$id" -H "Authorization: Bearer $TOLLGATE_TOKEN")
  status=$(text_in "$video" status)
done
[ "$status" = completed ] || { echo "$video" >&2; exit 1; }

curl -sS --fail-with-body "$TOLLGATE_URL/v1/videos/$id/content" -H "Authorization: Bearer $TOLLGATE_TOKEN" -o fox.mp4
echo "saved fox.mp4, $(wc -c <fox.mp4) bytes"
