import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import { chat, chunksOf, completionOf, get, listOf, post } from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const ask = (body: unknown) => post(`${simulators.providers.deepseek}/chat/completions`, body);

test("holds the line with comments and blank lines", async () => {
  expect((await ask(chat("deepseek-chat", "hi", { stream: true }))).text).toStartWith(": keep-alive\n\n");
  const plain = await ask(chat("deepseek-chat", "hi"));
  expect(plain.text).toStartWith("\n\n\n{");
  expect(completionOf(plain).object).toBe("chat.completion");
});

test("usage is split into cache hits and misses", async () => {
  const messages = [
    { role: "system", content: "s".repeat(5_000) },
    { role: "user", content: "hi" },
  ];
  const { usage } = completionOf(await ask({ model: "deepseek-chat", messages }));
  expect(usage).toMatchObject({
    prompt_cache_hit_tokens: 1_250,
    prompt_cache_miss_tokens: usage.prompt_tokens - 1_250,
  });
});

test("reasoning comes before content, and must come back where there are tools", async () => {
  const thinking = { type: "enabled" };
  const chunks = chunksOf(await ask(chat("deepseek-v4-flash", "hi", { thinking, stream: true })));
  const kinds = chunks.map((chunk) => (typeof chunk.choices[0]?.delta.content === "string" ? "text" : "reasoning"));
  expect(kinds.lastIndexOf("reasoning")).toBeLessThan(kinds.indexOf("text"));
  const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } };
  const loop = (assistant: object) => ({
    model: "deepseek-v4-flash",
    thinking,
    tools: [{ type: "function", function: { name: "get_weather", parameters: { type: "object", properties: {} } } }],
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: "", tool_calls: [call], ...assistant },
      { role: "tool", tool_call_id: "call_1", content: "x" },
    ],
  });
  expect((await ask(loop({}))).status).toBe(400);
  expect((await ask(loop({ reasoning_content: "thought" }))).status).toBe(200);
});

test("JSON mode needs the word in the prompt", async () => {
  const response_format = { type: "json_object" };
  expect((await ask(chat("deepseek-chat", "hi", { response_format }))).status).toBe(400);
  const completion = completionOf(await ask(chat("deepseek-chat", "hi in JSON", { response_format })));
  expect(JSON.parse(completion.choices[0]?.message.content ?? "")).toEqual({ answer: "hi in JSON" });
});

test("the listing has no created", async () => {
  const data = listOf(await get(`${simulators.providers.deepseek}/models`), "data");
  expect(data[0]).toEqual({ id: "deepseek-v4-flash", object: "model", owned_by: "deepseek" });
});

test("only the vision model sees, and a failed generation has its own finish reason", async () => {
  const content = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
  const see = (model: string) => ask({ model, messages: [{ role: "user", content }] });
  expect((await see("deepseek-chat")).status).toBe(422);
  expect((await see("deepseek-v4-flash-vision-exp")).status).toBe(200);
  const [choice] = completionOf(await ask(chat("deepseek-chat+failed", "hi"))).choices;
  expect(choice?.finish_reason).toBe("insufficient_system_resource");
});
