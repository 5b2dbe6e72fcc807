"""Makes an image (fox.png), then edits it (fox-in-snow.png)."""

import base64
import os
from pathlib import Path

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)
model = "openai/gpt-image-1-mini"


def save(answer, path: Path) -> None:
    path.write_bytes(base64.b64decode(answer.data[0].b64_json))
    print(f"saved {path}, {path.stat().st_size} bytes")


fox = Path("fox.png")
save(client.images.generate(model=model, prompt="A red fox", size="1024x1024", quality="low"), fox)
save(client.images.edit(model=model, prompt="The same fox in snow", quality="low", image=fox), Path("fox-in-snow.png"))
