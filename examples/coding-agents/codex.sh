#!/usr/bin/env bash
# Starts Codex on Tollgate. Any chat model works: try CODEX_MODEL=anthropic/claude-sonnet-5.
# To keep it that way, put the same settings into ~/.codex/config.toml, as docs/clients.md does.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"
export TOLLGATE_TOKEN # read by Codex itself

exec codex \
  -c model="${CODEX_MODEL:-openai/gpt-5-mini}" \
  -c model_provider=tollgate \
  -c model_providers.tollgate.name=Tollgate \
  -c model_providers.tollgate.base_url="$TOLLGATE_URL/v1" \
  -c model_providers.tollgate.env_key=TOLLGATE_TOKEN \
  -c model_providers.tollgate.wire_api=responses \
  "$@"
