import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import {
  bodyOf,
  chat,
  chunksOf,
  completionOf,
  eventsOf,
  get,
  listOf,
  member,
  post,
  weatherTool,
} from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const ask = (body: unknown) => post(`${simulators.providers.xai}/chat/completions`, body);

test("reasoning is beside the completion tokens, the cost is in ticks", async () => {
  const reply = await ask(chat("grok-4.3", "hi", { reasoning_effort: "high" }));
  const { usage, choices } = completionOf(reply);
  const reasoning = Number(member(usage, "completion_tokens_details", "reasoning_tokens"));
  expect(reasoning).toBeGreaterThan(0);
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens + reasoning);
  // 1.25 US dollars per million prompt tokens and 2.50 per million others: 12,500 and 25,000 ticks a token.
  expect(usage["cost_in_usd_ticks"]).toBe(
    usage.prompt_tokens * 12_500 + (usage.completion_tokens + reasoning) * 25_000,
  );
  expect(choices[0]?.message.reasoning_content).toBeString();
});

test("all tool calls come in one chunk", async () => {
  const chunks = chunksOf(await ask(chat("grok-4.3", "in parallel", { tools: [weatherTool], stream: true })));
  const carrying = chunks.filter((chunk) => chunk.choices[0]?.delta.tool_calls !== undefined);
  expect(carrying).toHaveLength(1);
  expect(carrying[0]?.choices[0]?.delta.tool_calls).toHaveLength(2);
});

test("reasoning models refuse stop words; errors are strings", async () => {
  const reply = await ask(chat("grok-4.3", "hi", { stop: "x" }));
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

describe("responses", () => {
  const respond = (body: object) => post(`${simulators.providers.xai}/responses`, { model: "grok-4.3", ...body });

  test("have bare ids, leave reasoning out of the output, and cost ticks", async () => {
    const body = bodyOf(await respond({ input: "hi", reasoning: { effort: "high" } }));
    expect(member(body, "id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(member(body, "output", 1, "id")).toMatch(/^msg_[0-9a-f-]{36}$/);
    expect(member(body, "usage")).toMatchObject({
      input_tokens: 4,
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 14 },
      total_tokens: 28,
      cost_in_usd_ticks: 4 * 12_500 + 24 * 25_000,
    });
    expect(member(body, "output", 0, "summary", 0, "type")).toBe("summary_text");
  });

  test("are looked up with chat's names for the usage; their input cannot be listed", async () => {
    const id = String(member(bodyOf(await respond({ input: "hi", reasoning: { effort: "high" } })), "id"));
    const found = bodyOf(await get(`${simulators.providers.xai}/responses/${id}`));
    expect(found).toMatchObject({ output: [{ type: "reasoning", id: "" }, {}], usage: { prompt_tokens: 4 } });
    expect((await get(`${simulators.providers.xai}/responses/${id}/input_items`)).status).toBe(404);
    expect((await get(`${simulators.providers.xai}/responses/none`)).status).toBe(404);
  });

  test("keep the system prompt of the response that they continue", async () => {
    const first = String(member(bodyOf(await respond({ input: "hi" })), "id"));
    expect((await respond({ input: "more", previous_response_id: first })).status).toBe(200);
    const refused = await respond({ input: "more", previous_response_id: first, instructions: "be brief" });
    expect([refused.status, member(bodyOf(refused), "error")]).toEqual([
      400,
      "Cannot specify instructions together with previous_response_id",
    ]);
  });

  test("take results as texts only, and refuse reasoning that does not open", async () => {
    const call = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
    const output = [{ type: "input_text", text: "x" }];
    const parts = await respond({ input: [call, { type: "function_call_output", call_id: "call_1", output }] });
    expect(parts.status).toBe(422);
    const reasoning = { type: "reasoning", summary: [], encrypted_content: "AAAA" };
    expect((await respond({ input: [reasoning, { role: "user", content: "hi" }] })).status).toBe(400);
  });

  test("stream calls whole, and end with [DONE]", async () => {
    const reply = await respond({ input: "hi", stream: true, tools: [{ type: "function", ...weatherTool.function }] });
    const deltas = eventsOf(reply).filter(({ event }) => event === "response.function_call_arguments.delta");
    expect(deltas.map(({ data }) => member(data, "delta"))).toEqual(['{"city":"sample city","days":1}']);
    expect(reply.text).toEndWith("data: [DONE]\n\n");
  });
});
