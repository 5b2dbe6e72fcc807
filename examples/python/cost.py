"""What one streamed call has cost, and what all calls of the last 30 days have."""

import os

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)

stream = client.chat.completions.create(
    model="openai/gpt-5-mini",
    messages=[{"role": "user", "content": "Hello!"}],
    stream=True,
)
for _ in stream:
    pass
request_id = stream.response.headers["x-request-id"]

generation = client.get(f"/generations/{request_id}", cast_to=dict[str, object])
print(
    f"{generation['model']}: {generation['input_tokens']} tokens in, {generation['output_tokens']} out,"
    f" {generation['credits']:.9f} credits"
)

usage = client.get("/usage", cast_to=dict[str, object], options={"params": {"group_by": "model"}})
for row in [*usage["data"], {"model": "all", **usage["total"]}]:
    print(f"{row['model']}: {row['requests']} requests, {row['credits']:.9f} credits")
