#!/usr/bin/env bash
# Anthropic's Messages. x-api-key works too in place of Authorization.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

curl -sS --fail-with-body "$TOLLGATE_URL/v1/messages" \
  -H "x-api-key: $TOLLGATE_TOKEN" -H "anthropic-version: 2023-06-01" -H "Content-Type: application/json" \
  -d '{
    "model": "anthropic/claude-haiku-4-5",
    "max_tokens": 1024,
    "system": "Answer in one sentence.",
    "messages": [{ "role": "user", "content": "Hello!" }]
  }'
echo
