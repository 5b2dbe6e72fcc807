import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import { asArray } from "../shared/json.ts";
import {
  bodyOf,
  chat,
  chunksOf,
  completionOf,
  get,
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

const ask = (body: unknown) => post(`${simulators.providers.openai}/chat/completions`, body);

test("refuses unknown fields and stream options without a stream", async () => {
  const unknown = await ask(chat("gpt-4o-mini", "hi", { top_k: 3 }));
  expect(unknown.status).toBe(400);
  expect(member(bodyOf(unknown), "error")).toEqual({
    message: "Unknown parameter: 'top_k'.",
    type: "invalid_request_error",
    param: "top_k",
    code: "unknown_parameter",
  });
  const options = await ask(chat("gpt-4o-mini", "hi", { stream_options: { include_usage: true } }));
  expect([options.status, member(bodyOf(options), "error", "param")]).toEqual([400, "stream_options"]);
});

test("a refused key has the type invalid_request_error", async () => {
  const headers = { authorization: "Bearer bad-key" };
  const reply = await post(`${simulators.providers.openai}/chat/completions`, chat("gpt-4o-mini", "hi"), headers);
  expect(member(bodyOf(reply), "error")).toMatchObject({
    type: "invalid_request_error",
    code: "invalid_api_key",
    param: null,
  });
});

test("reasoning models refuse max_tokens, stop and sampling", async () => {
  const limit = await ask(chat("gpt-5-mini", "hi", { max_tokens: 5 }));
  expect(member(bodyOf(limit), "error")).toMatchObject({ param: "max_tokens", code: "unsupported_parameter" });
  const stop = await ask(chat("o4-mini", "hi", { stop: "x" }));
  expect(member(bodyOf(stop), "error")).toMatchObject({ param: "stop", code: "unsupported_parameter" });
  const warm = await ask(chat("gpt-5-mini", "hi", { temperature: 0.5 }));
  expect([warm.status, member(bodyOf(warm), "error", "param")]).toEqual([400, "temperature"]);
  for (const body of [chat("gpt-5-mini", "hi", { temperature: 1 }), chat("gpt-5.2", "hi", { temperature: 0.5 })]) {
    expect((await ask(body)).status).toBe(200);
  }
  const good = await ask(chat("gpt-5-mini", "hi", { max_completion_tokens: 5 }));
  expect(completionOf(good).choices[0]?.finish_reason).toBe("length");
});

test("tool results must follow their calls", async () => {
  const messages = [
    { role: "user", content: "hi" },
    { role: "tool", tool_call_id: "call_1", content: "x" },
  ];
  const reply = await ask({ model: "gpt-4o-mini", messages });
  expect([reply.status, member(bodyOf(reply), "error", "param")]).toEqual([400, "messages[1]"]);
});

test("chunks carry usage: null, then a chunk without choices carries the usage", async () => {
  const chunks = chunksOf(await ask(chat("gpt-4o-mini", "hi", includeUsage)));
  const last = chunks.pop();
  expect(last).toMatchObject({ choices: [], usage: { total_tokens: 14 } });
  expect(chunks.every((chunk) => chunk.usage === null)).toBe(true);
  const opening: unknown = chunks[0]?.choices[0];
  const delta = { role: "assistant", content: "", refusal: null };
  expect(opening).toEqual({ index: 0, delta, logprobs: null, finish_reason: null });
  const unasked = chunksOf(await ask(chat("gpt-4o-mini", "hi", { stream: true })));
  expect(unasked.every((chunk) => !("usage" in chunk))).toBe(true);
});

test("obfuscation is on unless switched off", async () => {
  const on = await ask(chat("gpt-4o-mini", "hi", { stream: true }));
  expect(on.text).toContain('"obfuscation"');
  const off = await ask(chat("gpt-4o-mini", "hi", { stream: true, stream_options: { include_obfuscation: false } }));
  expect(off.text).not.toContain('"obfuscation"');
});

test("tool calls come in fragments: id and name once, then arguments", async () => {
  const chunks = chunksOf(await ask(chat("gpt-4o-mini", "hi", { tools: [weatherTool], stream: true })));
  const fragments = chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => choice.delta.tool_calls ?? []));
  expect(fragments[0]).toMatchObject({
    index: 0,
    type: "function",
    function: { name: "get_weather", arguments: "" },
  });
  expect(fragments.length).toBeGreaterThan(3);
  expect(fragments.slice(1).every((fragment) => fragment.id === undefined && fragment.index === 0)).toBe(true);
});

test("reasoning is counted within the completion and within its limit", async () => {
  const body = chat("gpt-5-mini", "words:100", { reasoning_effort: "high", max_completion_tokens: 20 });
  const { usage } = completionOf(await ask(body));
  expect(usage).toMatchObject({ completion_tokens: 20, completion_tokens_details: { reasoning_tokens: 10 } });
  for (const [model, effort] of [
    ["gpt-5.2", "none"],
    ["gpt-5-mini", "minimal"],
  ] as const) {
    const quiet = completionOf(await ask(chat(model, "hi", { reasoning_effort: effort })));
    expect(quiet.usage).toMatchObject({ completion_tokens_details: { reasoning_tokens: 0 } });
  }
});

test("headers describe the account, for a gateway to withhold", async () => {
  const { headers } = await ask(chat("gpt-4o-mini", "hi"));
  for (const name of ["x-request-id", "openai-organization", "openai-processing-ms", "x-ratelimit-remaining-tokens"]) {
    expect(headers.get(name)).toBeString();
  }
  expect(headers.getSetCookie()).toHaveLength(2);
});

test("one model can be looked up", async () => {
  const found = bodyOf(await get(`${simulators.providers.openai}/models/gpt-4o`));
  expect(found).toMatchObject({ id: "gpt-4o", object: "model", owned_by: "system" });
  expect(member(bodyOf(await get(`${simulators.providers.openai}/models/none`)), "error", "code")).toBe(
    "model_not_found",
  );
});

test("parallel calls come one after the other, or take turns on request", async () => {
  const indexes = async (text: string): Promise<unknown[]> => {
    const chunks = chunksOf(await ask(chat("gpt-4o-mini", text, { tools: [weatherTool], stream: true })));
    return chunks
      .flatMap((chunk) => chunk.choices.flatMap((choice) => choice.delta.tool_calls ?? []))
      .map(({ index }) => index);
  };
  const inOrder = await indexes("parallel");
  expect(inOrder.lastIndexOf(0)).toBeLessThan(inOrder.indexOf(1));
  const inTurns = await indexes("interleaved");
  expect(inTurns.slice(0, 6)).toEqual([0, 1, 0, 1, 0, 1]);
  expect(inTurns).toHaveLength(inOrder.length);
});

test("a refusal has its own field", async () => {
  const [choice] = completionOf(await ask(chat("gpt-4o-mini", "refuse:it"))).choices;
  expect(choice).toMatchObject({ finish_reason: "stop", message: { content: null } });
  expect(member(choice, "message", "refusal")).toBe("I can't help with this: refuse:it.");
});

test("an image is an address or base64, in an object", async () => {
  const see = (image_url: unknown) =>
    ask({ model: "gpt-4o-mini", messages: [{ role: "user", content: [{ type: "image_url", image_url }] }] });
  const told = completionOf(await see({ url: "https://example.com/a.png" })).choices[0]?.message.content;
  expect(told).toContain("I see image https://example.com/a.png.");
  for (const wrong of ["https://example.com/a.png", { url: "data:image/png;base64,§" }, { url: "a.png" }, {}]) {
    const reply = await see(wrong);
    expect(reply.status).toBe(400);
    expect(member(bodyOf(reply), "error", "param")).toStartWith("messages[0].content[0].image_url");
  }
});

test("log probabilities are included for each token on request", async () => {
  const asked = chat("gpt-4o-mini", "words:3", { logprobs: true, top_logprobs: 2 });
  const content = asArray(member(bodyOf(await ask(asked)), "choices", 0, "logprobs", "content"));
  expect(content.map((token) => member(token, "token"))).toEqual(["amber", " bridge", " candle"]);
  expect(content.map((token) => asArray(member(token, "top_logprobs")).length)).toEqual([2, 2, 2]);
  const chunks = chunksOf(await ask({ ...asked, stream: true }));
  const streamed = chunks.flatMap((chunk) => asArray(member(chunk, "choices", 0, "logprobs", "content")));
  expect(streamed.map((token) => member(token, "token"))).toEqual(["amber", " bridge", " candle"]);
});

test("a web search cites its sources", async () => {
  const asked = chat("gpt-4o-mini", "hi", { web_search_options: {} });
  const [annotation] = asArray(member(bodyOf(await ask(asked)), "choices", 0, "message", "annotations"));
  expect(annotation).toMatchObject({
    type: "url_citation",
    url_citation: { start_index: 0, url: "https://example.com/" },
  });
  const deltas = chunksOf(await ask({ ...asked, stream: true })).map((chunk) => member(chunk, "choices", 0, "delta"));
  expect(deltas).toContainEqual({ annotations: [annotation] });
});
