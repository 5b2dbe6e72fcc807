#!/usr/bin/env bash
# The same answer as a stream of server-sent events; -N prints each one as it arrives.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

curl -sS -N --fail-with-body "$TOLLGATE_URL/v1/chat/completions" \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" \
  -d '{
    "model": "openai/gpt-5-mini",
    "stream": true,
    "messages": [{ "role": "user", "content": "Hello!" }]
  }'
