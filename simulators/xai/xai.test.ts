import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import { bodyOf, chat, chunksOf, completionOf, get, listOf, member, post, weatherTool } from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const ask = (body: unknown) => post(`${simulators.providers.xai}/chat/completions`, body);

test("reasoning is beside the completion tokens, the cost is in ticks", async () => {
  const reply = await ask(chat("grok-4-1-fast-reasoning", "hi", { reasoning_effort: "high" }));
  const { usage, choices } = completionOf(reply);
  const reasoning = Number(member(usage, "completion_tokens_details", "reasoning_tokens"));
  expect(reasoning).toBeGreaterThan(0);
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens + reasoning);
  // 0.20 US dollars per million prompt tokens and 0.50 per million others: 2,000 and 5,000 ticks a token.
  expect(usage["cost_in_usd_ticks"]).toBe(usage.prompt_tokens * 2_000 + (usage.completion_tokens + reasoning) * 5_000);
  expect(choices[0]?.message.reasoning_content).toBeString();
});

test("all tool calls come in one chunk", async () => {
  const chunks = chunksOf(await ask(chat("grok-3", "in parallel", { tools: [weatherTool], stream: true })));
  const carrying = chunks.filter((chunk) => chunk.choices[0]?.delta.tool_calls !== undefined);
  expect(carrying).toHaveLength(1);
  expect(carrying[0]?.choices[0]?.delta.tool_calls).toHaveLength(2);
});

test("reasoning models refuse stop words; errors are strings", async () => {
  const reply = await ask(chat("grok-4", "hi", { stop: "x" }));
  expect(reply.status).toBe(400);
  expect(member(bodyOf(reply), "code")).toBe("Client specified an invalid argument");
  expect(member(bodyOf(reply), "error")).toContain("stop");
});

test("language models are listed with aliases and prices", async () => {
  const models = listOf(await get(`${simulators.providers.xai}/language-models`), "models");
  const fast = models.find((model) => member(model, "id") === "grok-4-1-fast-reasoning");
  expect(fast).toMatchObject({ aliases: ["grok-4-1-fast"], prompt_text_token_price: 2_000 });
  const found = await get(`${simulators.providers.xai}/language-models/grok-4-1-fast`);
  expect(bodyOf(found)).toEqual(fast);
});
