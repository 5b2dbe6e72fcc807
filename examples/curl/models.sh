#!/usr/bin/env bash
# The ids of all models that this token can call; the whole list also has their prices and context lengths.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

models=$(curl -sS --fail-with-body "$TOLLGATE_URL/v1/models" -H "Authorization: Bearer $TOLLGATE_TOKEN")
grep -o '"id":"[^"]*"' <<<"$models" | cut -d '"' -f 4 # with jq: jq -r '.data[].id'
