/** Google's clients on a model of each of seven providers: its SDKs for JavaScript and Python, Vercel's, LangChain's. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { GoogleGenAI } from "@google/genai";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { findPython, type Rig, root, startRig } from "../kit/index.ts";
import { png } from "./matrix/driver.ts";

const found = await findPython("test/dialects/google/requirements.txt");
if ("missing" in found) console.log(`skipped: google-genai and langchain-google-genai for Python, ${found.missing}`);

/** A model of each provider, and one that sees images. */
const models: readonly (readonly [model: string, seeing: string])[] = [
  ["openai/gpt-5-mini", "openai/gpt-5-mini"],
  ["google/gemini-3-flash-preview", "google/gemini-2.5-flash"],
  ["xai/grok-4.3", "xai/grok-4.3"],
  ["deepseek/deepseek-chat", "deepseek/deepseek-v4-flash-vision-exp"],
  ["mistral/mistral-small-latest", "mistral/mistral-small-latest"],
  ["anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4-5"],
  ["byteplus/seed-1-6-250915", "byteplus/seed-1-6-250915"],
];

let rig: Rig;
let token: string;
beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  rig = await startRig({ config: { upstream: { retries: 0 } } });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const said = (text: string): string => `You said: ${text}. That is all I have to say.`;

test.concurrent.each(models)("@ai-sdk/google, %s", async (model, seeing) => {
  const made = (id: string) => createGoogleGenerativeAI({ baseURL: `${rig.gateway.url}/v1beta`, apiKey: token })(id);
  const own = { model: made(model), maxRetries: 0 };
  expect((await generateText({ ...own, prompt: "Hello" })).text).toBe(said("Hello"));
  let streamed = "";
  const called: string[] = [];
  const get_weather = tool({
    description: "Weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => {
      called.push(city);
      return Promise.resolve("18 degrees");
    },
  });
  const loop = { prompt: "weather in steps:2", tools: { get_weather }, stopWhen: stepCountIs(4) };
  for await (const delta of streamText({ ...own, ...loop }).textStream) streamed += delta;
  expect([called.length, streamed.includes("18 degrees")]).toEqual([2, true]);
  const providerOptions = { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 } } };
  expect((await generateText({ ...own, prompt: "Think.", providerOptions })).text).toBe(said("Think."));
  const output = Output.object({ schema: z.object({ city: z.string() }) });
  const read = await generateText({ ...own, prompt: "As JSON, please.", output });
  expect(read.output).toEqual({ city: "sample city" });
  const image = { type: "image", image: Buffer.from(png, "base64"), mediaType: "image/png" } as const;
  const content = [{ type: "text", text: "What is this?" } as const, image];
  const seen = await generateText({ model: made(seeing), maxRetries: 0, messages: [{ role: "user", content }] });
  expect(seen.text).toContain("I see image/png");
});

test.concurrent.each(models)("@google/genai counts tokens, %s", async (model) => {
  const client = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: rig.gateway.url } });
  const { totalTokens = 0 } = await client.models.countTokens({ model, contents: "How many?" });
  expect(totalTokens).toBeGreaterThan(0);
});

test.skipIf("missing" in found)("google-genai and langchain-google-genai for Python", async () => {
  const python = "python" in found ? found.python : "";
  const script = join(root, "test/dialects/google/clients.py");
  const child = Bun.spawn([python, script, rig.gateway.url, token, png, JSON.stringify(models)], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, problems] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(await child.exited, problems).toBe(0);
  const cells = 14;
  expect(output.trim()).toBe(`${cells * models.length} passed`);
});
