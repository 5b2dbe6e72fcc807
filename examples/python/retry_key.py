"""Sends the same call twice with one Idempotency-Key: the second gets the first answer again and costs nothing."""

import os
import uuid

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)
key = str(uuid.uuid4())  # one key for each thing that you want done, the same for each try


def balance() -> float:
    return client.get("/user/info", cast_to=dict[str, object])["balance"]


def ask():
    response = client.chat.completions.with_raw_response.create(
        model="openai/gpt-5-mini",
        messages=[{"role": "user", "content": "Hello!"}],
        extra_headers={"Idempotency-Key": key},
    )
    return response.parse().choices[0].message.content, response.headers.get("idempotent-replayed")


before = balance()
first, _ = ask()
after_first = balance()
second, replayed = ask()
after_second = balance()

print(f"balance: {before}, then {after_first}, then {after_second}")
assert (first, replayed) == (second, "true")
assert before > after_first == after_second
print("The same answer twice, charged once.")
