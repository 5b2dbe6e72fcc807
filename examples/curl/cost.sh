#!/usr/bin/env bash
# What one call has cost, and what all calls of the last 30 days have.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

# Each answer has an x-request-id; -D - prints the headers, -o drops the body.
headers=$(curl -sS --fail-with-body "$TOLLGATE_URL/v1/chat/completions" -D - -o /dev/null \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" \
  -d '{ "model": "openai/gpt-5-mini", "messages": [{ "role": "user", "content": "Hello!" }] }')
id=$(sed -n 's/^x-request-id: \([a-z0-9_]*\).*/\1/p' <<<"$headers")

curl -sS --fail-with-body "$TOLLGATE_URL/v1/generations/$id" -H "Authorization: Bearer $TOLLGATE_TOKEN"
echo
curl -sS --fail-with-body "$TOLLGATE_URL/v1/usage?group_by=model" -H "Authorization: Bearer $TOLLGATE_TOKEN"
echo
