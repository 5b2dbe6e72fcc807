#!/usr/bin/env bash
# OpenAI's Chat Completions; only the address, the token and the model's prefix are Tollgate's.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

curl -sS --fail-with-body "$TOLLGATE_URL/v1/chat/completions" \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" \
  -d '{
    "model": "openai/gpt-5-mini",
    "messages": [{ "role": "user", "content": "Hello!" }]
  }'
echo
