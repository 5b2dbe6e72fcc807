"""The same loop by Anthropic's package."""

import os

from anthropic import Anthropic

client = Anthropic(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787"),
    api_key=os.environ["TOLLGATE_TOKEN"],
)


def get_weather(city: str) -> str:
    return f"18 degrees and sunny in {city}"


tools = [
    {
        "name": "get_weather",
        "description": "The weather in a city",
        "input_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }
]
messages = [{"role": "user", "content": "What is the weather in Oslo?"}]

while True:
    message = client.messages.create(
        model="anthropic/claude-haiku-4-5", max_tokens=1024, messages=messages, tools=tools
    )
    messages.append({"role": "assistant", "content": message.content})
    if message.stop_reason != "tool_use":
        break
    results = []
    for block in message.content:
        if block.type == "tool_use":
            result = get_weather(**block.input)
            print(f"{block.name}({block.input}) -> {result}")
            results.append({"type": "tool_result", "tool_use_id": block.id, "content": result})
    messages.append({"role": "user", "content": results})

print("".join(block.text for block in message.content if block.type == "text"))
