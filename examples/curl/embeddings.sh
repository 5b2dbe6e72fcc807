#!/usr/bin/env bash
# Two texts as vectors of eight numbers each.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

curl -sS --fail-with-body "$TOLLGATE_URL/v1/embeddings" \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" \
  -d '{ "model": "openai/text-embedding-3-small", "dimensions": 8, "input": ["A red fox", "A brown dog"] }'
echo
