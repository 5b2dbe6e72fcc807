"""A chat by OpenAI's package: Claude answers, though the package is not Anthropic's."""

import os

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)

completion = client.chat.completions.create(
    model="anthropic/claude-haiku-4-5",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(completion.choices[0].message.content)
