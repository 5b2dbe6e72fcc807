"""Turns a text into speech (hello.mp3), then transcribes it."""

import os
from pathlib import Path

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)
path = Path("hello.mp3")

# The sound is written to the file as it arrives.
with client.audio.speech.with_streaming_response.create(
    model="openai/gpt-4o-mini-tts", voice="alloy", input="Hello from Tollgate!"
) as speech:
    speech.stream_to_file(path)
print(f"saved {path}, {path.stat().st_size} bytes")

transcript = client.audio.transcriptions.create(model="openai/gpt-4o-mini-transcribe", file=path)
print(f"heard: {transcript.text}")
