#!/usr/bin/env bash
# OpenAI's Responses, here with Gemini: two turns, of which the second names the first instead of repeating it.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

respond() {
  curl -sS --fail-with-body "$TOLLGATE_URL/v1/responses" \
    -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" -d "$1"
}

first=$(respond '{ "model": "google/gemini-2.5-flash", "input": "Hello!" }')
echo "$first"
id=$(grep -o 'resp_[A-Za-z0-9_-]*' <<<"$first" | sed -n 1p) # with jq: jq -r .id

respond '{ "model": "google/gemini-2.5-flash", "previous_response_id": "'"$id"'", "input": "And in French?" }'
echo
