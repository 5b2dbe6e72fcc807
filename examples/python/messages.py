"""Anthropic's package: whole and streamed. Any chat model answers it, here Claude and then Grok."""

import os

from anthropic import Anthropic

client = Anthropic(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787"),  # without /v1
    api_key=os.environ["TOLLGATE_TOKEN"],
)

message = client.messages.create(
    model="anthropic/claude-haiku-4-5",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello!"}],
)
print("".join(block.text for block in message.content if block.type == "text"))

with client.messages.stream(
    model="xai/grok-4",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello again!"}],
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
    usage = stream.get_final_message().usage
print(f"\n{usage.input_tokens} tokens in, {usage.output_tokens} out")
