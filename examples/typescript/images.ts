/** Makes an image (fox.png), then edits it (fox-in-snow.png). */
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });
const model = "openai/gpt-image-1-mini";

async function save({ data }: OpenAI.ImagesResponse, path: string) {
  const bytes = Buffer.from(data?.[0]?.b64_json ?? "", "base64");
  await writeFile(path, bytes);
  console.log(`saved ${path}, ${bytes.length} bytes`);
}

const made = await client.images.generate({ model, prompt: "A red fox", size: "1024x1024", quality: "low" });
await save(made, "fox.png");

const image = createReadStream("fox.png");
const edited = await client.images.edit({ model, prompt: "The same fox in snow", quality: "low", image });
await save(edited, "fox-in-snow.png");
