/** Turns a text into speech (hello.mp3), then transcribes it. */
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

const speech = await client.audio.speech.create({
  model: "openai/gpt-4o-mini-tts",
  voice: "alloy",
  input: "Hello from Tollgate!",
});
// The sound is written to the file as it arrives.
if (speech.body) await pipeline(speech.body, createWriteStream("hello.mp3"));
console.log(`saved hello.mp3, ${(await stat("hello.mp3")).size} bytes`);

const transcript = await client.audio.transcriptions.create({
  model: "openai/gpt-4o-mini-transcribe",
  file: createReadStream("hello.mp3"),
});
console.log(`heard: ${transcript.text}`);
