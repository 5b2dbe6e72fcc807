#!/usr/bin/env bash
# Starts Claude Code on Tollgate. Any chat model works: try ANTHROPIC_MODEL=openai/gpt-5-mini.
# To keep it that way, put the same variables under "env" in ~/.claude/settings.json.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

unset ANTHROPIC_API_KEY # it would be sent as well
export ANTHROPIC_BASE_URL="$TOLLGATE_URL" # without /v1
export ANTHROPIC_AUTH_TOKEN="$TOLLGATE_TOKEN"
export ANTHROPIC_MODEL="${ANTHROPIC_MODEL:-anthropic/claude-sonnet-5}"
export ANTHROPIC_DEFAULT_HAIKU_MODEL="${ANTHROPIC_DEFAULT_HAIKU_MODEL:-anthropic/claude-haiku-4-5}" # for small tasks
exec claude "$@"
