#!/usr/bin/env bash
# Turns a text into speech (hello.mp3), then transcribes it.
set -euo pipefail
: "${TOLLGATE_URL:=http://127.0.0.1:8787}" "${TOLLGATE_TOKEN:?is not set: use a token that npm start has printed}"

curl -sS --fail-with-body "$TOLLGATE_URL/v1/audio/speech" \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" -H "Content-Type: application/json" \
  -d '{ "model": "openai/gpt-4o-mini-tts", "voice": "alloy", "input": "Hello from Tollgate!" }' \
  -o hello.mp3
echo "saved hello.mp3, $(wc -c <hello.mp3) bytes"

curl -sS --fail-with-body "$TOLLGATE_URL/v1/audio/transcriptions" \
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \
  -F model=openai/gpt-4o-mini-transcribe -F file=@hello.mp3
echo
