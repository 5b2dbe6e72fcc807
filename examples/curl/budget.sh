#!/usr/bin/env bash
# Makes a token with a small budget and calls until it is used up. Runs on the gateway's machine, since the command line
# writes to its storage.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}"

# 0.00025 credits allow a few short calls.
cd "$(dirname "$0")/../.."
token=$(npx tollgate token create --user example --credits 1 --max-budget 0.00025)

for call in {1..20}; do
  # --fail-with-body is left out: the refusal is what we want to see. -w adds the status in a line of its own.
  answer=$(curl -sS "$TOLLGATE_URL/v1/chat/completions" -w '\n%{http_code}' \
    -H "Authorization: Bearer $token" -H "Content-Type: application/json" \
    -d '{
      "model": "openai/gpt-5-mini",
      "max_completion_tokens": 100,
      "messages": [{ "role": "user", "content": "Hello!" }]
    }')
  status=${answer##*$'\n'}
  echo "call $call: $status"
  if [ "$status" = 402 ]; then
    echo "${answer%$'\n'*}"
    exit 0
  fi
  [ "$status" = 200 ]
done
echo "The budget was never used up." >&2
exit 1
