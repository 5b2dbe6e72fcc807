"""Which of two texts is closer to a question."""

import os

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)

texts = ["The red fox sleeps by day.", "Interest rates rose again."]
question = "When does a red fox sleep?"
answer = client.embeddings.create(model="openai/text-embedding-3-small", input=[question, *texts])
asked, *vectors = (item.embedding for item in answer.data)

for text, vector in zip(texts, vectors):
    # The vectors have length 1, so that their product is their similarity.
    similarity = sum(a * b for a, b in zip(asked, vector))
    print(f"{similarity:.3f}  {text}")
