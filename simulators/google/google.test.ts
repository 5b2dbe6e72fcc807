import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import { asArray, asObject } from "../shared/json.ts";
import {
  bodyOf,
  chat,
  chunksOf,
  completionOf,
  finishing,
  get,
  includeUsage,
  listOf,
  member,
  post,
  type Reply,
  weatherTool,
} from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const ask = (body: unknown) => post(`${simulators.providers.google}/v1beta/openai/chat/completions`, body);

test("errors are arrays, a wrong key is a 400, unknown fields are refused", async () => {
  const unknown = await ask(chat("gemini-2.5-flash", "hi", { store: true }));
  expect(unknown.status).toBe(400);
  const body = bodyOf(unknown);
  expect(body).toBeArrayOfSize(1);
  expect(member(body, 0, "error")).toMatchObject({ code: 400, status: "INVALID_ARGUMENT" });
  expect(member(body, 0, "error", "message")).toContain('Unknown name "store"');
  const headers = { authorization: "Bearer bad-key" };
  const url = `${simulators.providers.google}/v1beta/openai/chat/completions`;
  const refused = await post(url, chat("gemini-2.5-flash", "hi"), headers);
  expect(refused.status).toBe(400);
  expect(member(bodyOf(refused), 0, "error", "details", 0, "reason")).toBe("API_KEY_INVALID");
});

test("two credentials at once are refused, and each part of the API takes its own alone", async () => {
  const url = `${simulators.providers.google}/v1beta/models`;
  const statusOf = async (headers: Record<string, string>, at = url) => (await fetch(at, { headers })).status;
  const [native, compatible] = [{ "x-goog-api-key": "good-key" }, { authorization: "Bearer good-key" }];
  expect([await statusOf(native), await statusOf(compatible)]).toEqual([200, 403]);
  expect(await statusOf({ ...native, ...compatible })).toBe(400);
  const models = `${simulators.providers.google}/v1beta/openai/models`;
  expect(await statusOf(compatible, models)).toBe(200);
  expect(await statusOf({ ...native, ...compatible }, models)).toBe(400);
});

test("thinking is only in the total, the finishing chunk has the usage", async () => {
  const chunks = chunksOf(
    await ask(chat("models/gemini-2.5-flash", "hi", { reasoning_effort: "low", ...includeUsage })),
  );
  const usage = finishing(chunks)?.usage;
  expect(usage?.total_tokens).toBeGreaterThan((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  expect(chunks.at(-1)).toBe(finishing(chunks));
  expect(chunks[0]).toMatchObject({ model: "gemini-2.5-flash", usage: { completion_tokens: 0 } });
});

test("thoughts are inside the content when asked for", async () => {
  const extra_body = { google: { thinking_config: { include_thoughts: true } } };
  const completion = completionOf(await ask(chat("gemini-2.5-flash", "hi", { extra_body })));
  expect(completion.choices[0]?.message.content).toMatch(/^<thought>.+<\/thought>You said: hi/);
});

test("a streamed call is whole, without index, with a signature", async () => {
  const chunks = chunksOf(await ask(chat("gemini-2.5-flash", "hi", { tools: [weatherTool], stream: true })));
  const [call, ...more] = chunks[0]?.choices[0]?.delta.tool_calls ?? [];
  expect(more).toEqual([]);
  expect(Object.keys(call ?? {})).toEqual(["id", "type", "function", "extra_content"]);
  expect(call?.function).toEqual({ name: "get_weather", arguments: '{"city":"sample city","days":1}' });
  expect(member(call, "extra_content", "google", "thought_signature")).toBeString();
});

test("the compatible listing prefixes ids and has no created", async () => {
  const data = listOf(await get(`${simulators.providers.google}/v1beta/openai/models`), "data");
  expect(data[0]).toEqual({
    id: "models/gemini-2.5-flash",
    object: "model",
    owned_by: "google",
    display_name: "Gemini 2.5 Flash",
  });
  const one = await get(`${simulators.providers.google}/v1beta/openai/models/models/gemini-2.5-pro`);
  expect(member(bodyOf(one), "id")).toBe("models/gemini-2.5-pro");
});

test("the native listing comes in pages with token limits", async () => {
  const names: unknown[] = [];
  let token: unknown = "";
  while (typeof token === "string") {
    const url = `${simulators.providers.google}/v1beta/models?pageSize=3&pageToken=${token}`;
    const response = await fetch(url, { headers: { "x-goog-api-key": "good-key" } });
    const page = { text: await response.text() };
    const models = listOf(page, "models");
    expect(models.length).toBeLessThanOrEqual(3);
    expect(member(models, 0, "inputTokenLimit")).toBeNumber();
    names.push(...models.map((model) => member(model, "name")));
    token = member(bodyOf(page), "nextPageToken");
  }
  expect(names).toHaveLength(11);
  expect(names[0]).toBe("models/gemini-2.5-flash");
});

test("native errors are objects; no key at all is a 403", async () => {
  const reply = await fetch(`${simulators.providers.google}/v1beta/models`);
  expect(reply.status).toBe(403);
  expect(await reply.json()).toMatchObject({ error: { code: 403, status: "PERMISSION_DENIED" } });
});

describe("the signature of a call", () => {
  const tools = [weatherTool];
  const asked = (model: string) => chat(model, "parallel", { tools });

  async function back(model: string, change: (signature: unknown) => unknown): Promise<Reply> {
    const calls = asArray(member(bodyOf(await ask(asked(model))), "choices", 0, "message", "tool_calls")).map(asObject);
    const [first, ...others] = calls;
    const signature = change(member(first, "extra_content", "google", "thought_signature"));
    const extra = signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
    const tool_calls = [{ ...first, extra_content: undefined, ...extra }, ...others];
    const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "18 degrees" }));
    const messages = [{ role: "user", content: "parallel" }, { role: "assistant", tool_calls }, ...results];
    return ask({ model, tools, messages });
  }

  test("stands on the first of several calls, and comes back unchanged", async () => {
    const calls = asArray(member(bodyOf(await ask(asked("gemini-3.5-flash"))), "choices", 0, "message", "tool_calls"));
    expect(calls.map((call) => member(call, "extra_content") !== undefined)).toEqual([true, false]);
    expect((await back("gemini-3.5-flash", (signature) => signature)).status).toBe(200);
    const altered = await back("gemini-3.5-flash", (signature) => `A${String(signature)}`);
    expect([altered.status, member(bodyOf(altered), 0, "error", "message")]).toEqual([
      400,
      expect.stringContaining("Thought signature is not valid"),
    ]);
  });

  test("must not be missing from Gemini 3 on, unless the caller declares it lost", async () => {
    const missing = await back("gemini-3.5-flash", () => undefined);
    expect(member(bodyOf(missing), 0, "error", "message")).toContain("missing a thought_signature");
    expect((await back("gemini-3.5-flash", () => "skip_thought_signature_validator")).status).toBe(200);
    expect((await back("gemini-2.5-flash", () => undefined)).status).toBe(200);
  });
});

test("images come inline", async () => {
  const see = (url: string) =>
    ask({
      model: "gemini-2.5-flash",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
  expect((await see("data:image/png;base64,AAAA")).status).toBe(200);
  expect((await see("https://example.com/a.png")).status).toBe(400);
});
