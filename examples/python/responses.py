"""OpenAI's Responses with Gemini: the second turn names the first instead of repeating it."""

import os

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)

first = client.responses.create(model="google/gemini-2.5-flash", input="Hello!")
print(first.output_text)

second = client.responses.create(
    model="google/gemini-2.5-flash",
    previous_response_id=first.id,
    input="And in French?",
)
print(second.output_text)
