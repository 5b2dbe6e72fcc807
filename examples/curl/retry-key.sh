#!/usr/bin/env bash
# Sends the same call twice with one Idempotency-Key: the second gets the first answer again and costs nothing.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

key="order-$(date +%s)-$$" # one key for each thing that you want done, the same for each try

ask() {
  curl -sS --fail-with-body "$TOLLGATE_URL/v1/chat/completions" \
    -H "Idempotency-Key: $key" \
    -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" \
    -d '{ "model": "openai/gpt-5-mini", "messages": [{ "role": "user", "content": "Hello!" }] }'
}

balance() { # with jq: jq .balance
  curl -sS --fail-with-body "$TOLLGATE_URL/v1/user/info" -H "Authorization: Bearer $TOLLGATE_TOKEN" |
    grep -o '"balance":[^,]*' | sed -n 1p
}

before=$(balance)
first=$(ask)
after_first=$(balance)
second=$(ask)
after_second=$(balance)

echo "before:           $before"
echo "after the first:  $after_first"
echo "after the second: $after_second"
[ "$first" = "$second" ] && [ "$before" != "$after_first" ] && [ "$after_first" = "$after_second" ]
echo "The same answer twice, charged once."
