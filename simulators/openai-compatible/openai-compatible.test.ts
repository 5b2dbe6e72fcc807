import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import {
  bodyOf,
  chat,
  chunksOf,
  eventData,
  finishing,
  includeUsage,
  member,
  post,
  weatherTool,
} from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const ask = (body: unknown) => post(`${simulators.providers["openai-compatible"]}/chat/completions`, body);

test("ignores unknown members", async () => {
  expect((await ask(chat("local-small", "hi", { anything: 1 }))).status).toBe(200);
});

test("groq- models bring the usage in x_groq, asked for or not", async () => {
  const chunks = chunksOf(await ask(chat("groq-llama", "hi", { stream: true })));
  expect(Object.keys(chunks[0]?.x_groq ?? {})).toEqual(["id"]);
  expect(chunks[0]?.x_groq?.id).toStartWith("req_");
  expect(finishing(chunks)?.x_groq?.usage).toMatchObject({ total_tokens: 14 });
  expect(chunks.every((chunk) => chunk.usage === undefined)).toBe(true);
  expect((await ask(chat("groq-llama", "hi", { n: 2 }))).status).toBe(400);
  const silent = chunksOf(await ask(chat("groq-llama+no-usage", "hi", { stream: true })));
  expect(finishing(silent)).not.toHaveProperty("x_groq");
});

test("sonar models bring the usage and the message so far in every chunk", async () => {
  const reply = await ask(chat("sonar", "hi there", { stream: true }));
  const chunks = chunksOf(reply);
  const totals = chunks.map((chunk) => chunk.usage?.completion_tokens ?? -1);
  expect(totals).toEqual(totals.toSorted((left, right) => left - right));
  expect(totals.at(-1)).toBe(11);
  const messages = eventData(reply.text)
    .slice(0, -1)
    .map((data) => member(JSON.parse(data), "choices", 0, "message", "content"));
  expect(messages.slice(0, 3)).toEqual(["", "You", "You said:"]);
  expect(messages.at(-1)).toBe("You said: hi there. That is all I have to say.");
  expect(member(bodyOf(await ask(chat("sonar", "hi"))), "usage", "cost", "total_cost")).toBeGreaterThan(0.005);
  expect(member(bodyOf(await ask(chat("sonar", "hi", { tools: [weatherTool] }))), "error", "code")).toBe(400);
});

test("kimi- models bring the usage in the finishing choice as well", async () => {
  const chunks = chunksOf(await ask(chat("kimi-k2.6", "hi", includeUsage)));
  expect(finishing(chunks)?.choices[0]?.usage).toEqual(chunks.at(-1)?.usage ?? undefined);
  expect(chunks.at(-1)?.choices).toEqual([]);
});

test("kimi- models take images inline or by the id of a file, and fetch nothing", async () => {
  const see = (url: string) =>
    ask({ model: "kimi-k2.6", messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] });
  expect((await see("data:image/png;base64,AAAA")).status).toBe(200);
  expect((await see("ms://file-1")).status).toBe(200);
  expect((await see("https://example.com/a.png")).status).toBe(400);
});
