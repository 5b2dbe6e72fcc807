"""Orders a video, waits for it, and downloads it (fox.mp4)."""

import os
import time

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)

video = client.videos.create(model="openai/sora-2", prompt="A red fox in snow", seconds="4")
while video.status in ("queued", "in_progress"):
    print(f"{video.status}, {video.progress} %")
    time.sleep(2)
    video = client.videos.retrieve(video.id)
if video.status == "failed":
    raise SystemExit(video.error)

content = client.videos.download_content(video.id).read()
with open("fox.mp4", "wb") as file:
    file.write(content)
print(f"saved fox.mp4, {len(content)} bytes")
