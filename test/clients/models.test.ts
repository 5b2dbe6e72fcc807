/** The models by both official SDKs: the same paths, each in its own format. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
let token: string;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  rig = await startRig({
    config: {
      models: { aliases: { quick: "anthropic/claude-haiku-4-5", "codex-*": "openai/gpt-*" } },
      pricing: {
        models: { "anthropic/private-1": { input_mtok: 1, output_mtok: 2 }, "byteplus/ep-picture": { image: 0.1 } },
      },
    },
  });
  token = await rig.gateway.token();
  openai = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: rig.gateway.url, apiKey: token, maxRetries: 0 });
});
afterAll(() => rig.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(rig.gateway.url + path, { headers: { authorization: `Bearer ${token}`, ...headers } });

/** The error of a call that must fail. */
const errorOf = (call: PromiseLike<unknown>): PromiseLike<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("OpenAI's SDK", () => {
  test("lists every model that can be called, with its operations", async () => {
    const { data } = await openai.models.list();
    const operations = Object.fromEntries(
      data.map((model) => [model.id, (model as unknown as { operations: string[] }).operations]),
    );
    expect(operations).toMatchObject({
      "openai/gpt-5-mini": ["chat", "messages", "responses", "gemini"],
      "openai/gpt-image-1": ["image_generation", "image_edit"],
      "openai/tts-1": ["speech"],
      "openai/whisper-1": ["transcription", "translation", "realtime_transcription"],
      "google/gemini-embedding-001": ["embeddings"],
      "xai/grok-tts": ["speech"],
      "xai/grok-stt": ["transcription"],
      "xai/grok-voice-latest": ["realtime"],
      "mistral/voxtral-mini-tts-latest": ["speech"],
      "byteplus/seedream-4-5-251128": ["image_generation", "image_edit"],
      "byteplus/ep-picture": ["image_generation", "image_edit"],
      "anthropic/private-1": ["chat", "messages", "responses", "gemini"],
    });
  });

  test("retrieves each of them by its id", async () => {
    const { data } = await openai.models.list();
    expect(data.length).toBeGreaterThan(50);
    for (const model of data) expect(await openai.models.retrieve(model.id)).toEqual(model);
  });

  test("retrieves a name that the provider accepts and does not list", async () => {
    expect(await openai.models.retrieve("xai/grok-4-latest")).toMatchObject({
      id: "xai/grok-4-latest",
      owned_by: "xai",
    });
  });

  test("retrieves a model by an alias of its provider", async () => {
    expect(await openai.models.retrieve("claude/claude-haiku-4-5")).toMatchObject({ id: "anthropic/claude-haiku-4-5" });
  });
});

describe("an alias", () => {
  test("is listed, and tells its model, whose capabilities and prices it has", async () => {
    const { id: _, ...members } = (await openai.models.retrieve("anthropic/claude-haiku-4-5")) as object & {
      id: string;
    };
    const alias = { id: "quick", alias_of: "anthropic/claude-haiku-4-5", ...members };
    expect((await openai.models.retrieve("quick")) as object).toEqual(alias);
    expect((await openai.models.list()).data).toContainEqual(alias as never);
    const model = await anthropic.models.retrieve("quick");
    expect(model as object).toMatchObject({
      id: "quick",
      alias_of: "anthropic/claude-haiku-4-5",
      display_name: "Claude Haiku 4.5",
      max_input_tokens: 200_000,
    });
  });

  test("for many models is retrieved by any of its names", async () => {
    const { data } = await openai.models.list();
    expect(data.some(({ id }) => id.startsWith("codex-"))).toBe(false);
    expect(await openai.models.retrieve("codex-5-mini")).toMatchObject({
      id: "codex-5-mini",
      alias_of: "openai/gpt-5-mini",
      context_length: 400_000,
      pricing: { input_mtok: 0.25 },
    });
    expect(await errorOf(openai.models.retrieve("codex-none"))).toMatchObject({ status: 404 });
  });

  test("of a model that the token may not use is not there", async () => {
    const limited = await rig.gateway.token({ models: ["openai/gpt-5*"] });
    const client = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: limited, maxRetries: 0 });
    expect((await client.models.list()).data.some(({ id }) => id === "quick")).toBe(false);
    expect(await errorOf(client.models.retrieve("quick"))).toMatchObject({ status: 404 });
  });
});

describe("an id in a path", () => {
  test.each(["openai/gpt-5-mini", "openai%2Fgpt-5-mini", "openai%2fgpt-5-mini"])("may be written %s", async (id) => {
    const answer = await get(`/v1/models/${id}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ id: "openai/gpt-5-mini", object: "model" });
  });

  test.each([
    ["openai/no-such-model", "lists no model"],
    ["nobody/gpt-5", "No provider has the prefix"],
    ["gpt-5", "has no provider prefix"],
    ["openai/", "has no name after its prefix"],
  ])("%p is refused: %s", async (id, message) => {
    const answer = await get(`/v1/models/${id}`);
    const refused = JSON.parse(await answer.text()) as { error: { message: string; code: string } };
    expect([answer.status, refused.error.code]).toEqual([404, "model_not_routed"]);
    expect(refused.error.message).toContain(message);
  });
});

describe("a token that may use some models", () => {
  test("lists and retrieves those alone", async () => {
    const limited = await rig.gateway.token({ models: ["openai/gpt-5*"] });
    const client = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: limited, maxRetries: 0 });
    const { data } = await client.models.list();
    expect(data.every(({ id }) => id.startsWith("openai/gpt-5"))).toBe(true);
    expect(await client.models.retrieve("openai/gpt-5-mini")).toMatchObject({ id: "openai/gpt-5-mini" });
    expect(await errorOf(client.models.retrieve("openai/gpt-4o"))).toMatchObject({ status: 404 });
  });
});

describe("Anthropic's SDK", () => {
  test("follows the pages to the end, and sees what OpenAI's sees", async () => {
    const { data } = await openai.models.list();
    const ids: string[] = [];
    for await (const model of anthropic.models.list({ limit: 7 })) ids.push(model.id);
    expect(ids).toEqual(data.map(({ id }) => id));
  });

  test("gets 20 models on a page without a limit", async () => {
    const page = await anthropic.models.list();
    expect([page.data.length, page.has_more]).toEqual([20, true]);
  });

  test("gets what Anthropic says of its models", async () => {
    const model = await anthropic.models.retrieve("anthropic/claude-haiku-4-5");
    expect(model).toMatchObject({ type: "model", id: "anthropic/claude-haiku-4-5", display_name: "Claude Haiku 4.5" });
    expect(model.max_input_tokens).toBe(200_000);
    expect(Date.parse(model.created_at)).toBeGreaterThan(0);
  });

  test("gets the same members for models of others", async () => {
    expect((await anthropic.models.retrieve("google/gemini-2.5-flash")) as object).toEqual({
      type: "model",
      id: "google/gemini-2.5-flash",
      display_name: "Gemini 2.5 Flash",
      created_at: "1970-01-01T00:00:00Z",
      max_input_tokens: 1_048_576,
      max_tokens: 65_536,
      capabilities: null,
      lifecycle: "active",
      deprecated_at: null,
      retires_at: null,
      line: null,
    });
  });

  test("gets refusals in Anthropic's format", async () => {
    const refused = await errorOf(anthropic.models.retrieve("anthropic/no-such-model"));
    expect(refused).toBeInstanceOf(Anthropic.NotFoundError);
    const headers = { "anthropic-version": "2023-06-01", authorization: "Bearer tg_wrong" };
    for (const path of ["/v1/models", "/v1/models/openai/gpt-5-mini"]) {
      const answer = await get(path, headers);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
    }
  });

  test.each<[string, number, string]>([
    ["limit=0", 422, "invalid_request_error"],
    ["limit=1001", 422, "invalid_request_error"],
  ])("is refused with %s: %p", async (query, status, type) => {
    const answer = await get(`/v1/models?${query}`, { "anthropic-version": "2023-06-01" });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ type: "error", error: { type } });
  });
});
