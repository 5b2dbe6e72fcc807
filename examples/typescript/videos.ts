/** Orders a video, waits for it, and downloads it (fox.mp4). */
import { writeFile } from "node:fs/promises";
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

let video = await client.videos.create({ model: "openai/sora-2", prompt: "A red fox in snow", seconds: "4" });
while (video.status === "queued" || video.status === "in_progress") {
  console.log(`${video.status}, ${video.progress} %`);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  video = await client.videos.retrieve(video.id);
}
if (video.status === "failed") throw new Error(video.error?.message);

const content = await client.videos.downloadContent(video.id);
const bytes = Buffer.from(await content.arrayBuffer());
await writeFile("fox.mp4", bytes);
console.log(`saved fox.mp4, ${bytes.length} bytes`);
