/** `/v1/{prefix}/X` is `/v1/X` with the models of one provider, for clients that name them without a prefix. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { formOf, soundFile } from "../../simulators/testing/media.ts";
import { type Caller, lastReceived, type Rig, simulatedKey, startRig } from "../kit/index.ts";

let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  rig = await startRig({
    config: { upstream: { retries: 0 }, pricing: { models: { "hub/xai/model": { input_mtok: 1, output_mtok: 1 } } } },
    providers: ({ providers }) => ({
      hub: { kind: "openai-compatible", base_url: providers["openai-compatible"], api_key: simulatedKey },
    }),
  });
  caller = await rig.caller();
});
beforeEach(() => rig.simulators.clear());
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const openai = (prefix: string): OpenAI =>
  new OpenAI({ baseURL: `${rig.gateway.url}/v1/${prefix}`, apiKey: caller.token, maxRetries: 0 });

const messages = [{ role: "user" as const, content: "Hello" }];
const said = "You said: Hello. That is all I have to say.";

async function send(path: string, body: object | FormData, headers: Record<string, string> = {}) {
  const isForm = body instanceof FormData;
  const response = await fetch(rig.gateway.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${caller.token}`,
      ...(isForm ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: isForm ? body : JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error?: { code: string; param: string | null } };
  return { status: response.status, credits: response.headers.get("x-tollgate-credits"), error };
}

const chatOf = (prefix: string): string => `/v1/${prefix}/chat/completions`;

describe.each([
  ["openai", "gpt-4o-mini"],
  ["anthropic", "claude-haiku-4-5"],
  ["google", "gemini-2.5-flash"],
  ["xai", "grok-4.3"],
  ["mistral", "mistral-small-latest"],
])("%s", (prefix, model) => {
  test("takes its models with their prefix and without, in each dialect", async () => {
    for (const name of [model, `${prefix}/${model}`]) {
      const chat = await openai(prefix).chat.completions.create({ model: name, messages });
      expect(chat.choices[0]?.message.content).toBe(said);
      const response = await openai(prefix).responses.create({ model: name, input: "Hello" });
      expect((await openai(prefix).responses.retrieve(response.id)).output_text).toBe(said);
    }
    for (const baseURL of [`/v1/${prefix}`, `/v1/${prefix}/`]) {
      const claude = new Anthropic({ baseURL: rig.gateway.url + baseURL, apiKey: caller.token, maxRetries: 0 });
      const message = await claude.messages.create({ model, max_tokens: 100, messages });
      expect(message.content.find(({ type }) => type === "text")).toMatchObject({ text: said });
      expect((await claude.messages.countTokens({ model, messages })).input_tokens).toBeGreaterThan(0);
    }
    const gemini = { contents: [{ parts: [{ text: "Hello" }] }] };
    expect((await send(`/v1/${prefix}/v1beta/models/${model}:generateContent`, gemini)).status).toBe(200);
  });

  test("lists its models alone", async () => {
    const { data } = await openai(prefix).models.list();
    expect(data.map(({ id }) => id)).toContain(`${prefix}/${model}`);
    expect(data.filter(({ id }) => !id.startsWith(`${prefix}/`))).toEqual([]);
  });

  test("streams", async () => {
    const stream = await openai(prefix).chat.completions.create({ model, messages, stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(said);
  });
});

test("embeddings, images and sound cost the same as without a group", async () => {
  const calls: [path: string, prefix: string, body: (model?: string) => object | FormData, model: string][] = [
    ["/embeddings", "openai", (model) => ({ model, input: "Hello" }), "text-embedding-3-small"],
    ["/images/generations", "google", (model) => ({ model, prompt: "a fox" }), "gemini-2.5-flash-image"],
    ["/audio/speech", "openai", (model) => ({ model, voice: "alloy", input: "Hello" }), "tts-1"],
    ["/audio/transcriptions", "openai", (model = "") => formOf({ model, file: soundFile(2, "mp3") }), "whisper-1"],
    ["/moderations", "openai", (model) => ({ model, input: "Hello" }), "omni-moderation-latest"],
  ];
  for (const [path, prefix, bodyOf, model] of calls) {
    const bodies = [`/v1/${prefix}${path}`, `/v1${path}`].map(async (at, index) => {
      const response = await fetch(rig.gateway.url + at, {
        method: "POST",
        ...requestOf(bodyOf(index === 0 ? model : `${prefix}/${model}`)),
      });
      await response.arrayBuffer();
      return [path, response.status, response.headers.get("x-tollgate-credits")];
    });
    const [grouped, plain] = await Promise.all(bodies);
    expect(grouped).toEqual(plain ?? []);
    expect(grouped?.[1]).toBe(200);
  }
});

function requestOf(body: object | FormData): RequestInit {
  const authorization = `Bearer ${caller.token}`;
  if (body instanceof FormData) return { body, headers: { authorization } };
  return { body: JSON.stringify(body), headers: { authorization, "content-type": "application/json" } };
}

describe("a group", () => {
  test("refuses the models of another provider, and names that begin like one are its own", async () => {
    const refused = await send(chatOf("xai"), { model: "openai/gpt-4o-mini", messages });
    expect([refused.status, refused.error?.param]).toEqual([422, "model"]);
    expect((await send(chatOf("hub"), { model: "xai/model", messages })).status).toBe(200);
    expect(lastReceived(rig).body).toContain('"model":"xai/model"');
    expect((await send(chatOf("hub"), { model: "xai/other", messages })).status).toBe(422);
  });

  test("that no provider has is unknown to callers with a token, and needs one", async () => {
    const body = { model: "gpt-4o-mini", messages };
    expect((await send(chatOf("nobody"), body)).error?.code).toBe("route_not_found");
    expect((await send("/v1/nobody/responses/resp_1/cancel", {})).error?.code).toBe("route_not_found");
    for (const prefix of ["nobody", "openai"]) {
      expect((await send(chatOf(prefix), body, { authorization: "" })).status).toBe(401);
    }
    expect((await send("/v1/openai/nothing", body)).error?.code).toBe("route_not_found");
    expect((await send("/v1/openai/user/info", body)).error?.code).toBe("route_not_found");
  });

  test("does not widen what a token may use, nor share responses", async () => {
    const narrow = { authorization: `Bearer ${await rig.gateway.token({ user: "narrow", models: ["anthropic/*"] })}` };
    expect((await send(chatOf("openai"), { model: "gpt-4o-mini", messages }, narrow)).status).toBe(404);
    const { id } = await openai("openai").responses.create({ model: "gpt-4o-mini", input: "Hello" });
    const { token } = await rig.caller();
    const url = `${rig.gateway.url}/v1/openai/responses/${id}`;
    expect((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
  });

  test("has its own retry keys: the same body to another provider is another call", async () => {
    const key = { "idempotency-key": "group-1" };
    const body = { model: "same-model", messages };
    const first = await send(chatOf("openai"), { ...body, model: "gpt-4o-mini" }, key);
    expect(first.status).toBe(200);
    expect((await send(chatOf("hub"), { ...body, model: "gpt-4o-mini" }, key)).status).toBe(409);
  });
});
