import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import { type SimulatorName, type Simulators, startSimulators } from "./index.ts";
import { asArray } from "./shared/json.ts";
import { bodyOf, member, post } from "./testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

interface Embedder {
  readonly provider: SimulatorName;
  readonly base: string;
  readonly model: string;
  readonly dimensions: number;
  readonly tokens: boolean;
  readonly base64: boolean;
  readonly usage: boolean;
}

const takesAll = { base: "", tokens: true, base64: true, usage: true };
const embedders: readonly Embedder[] = [
  { ...takesAll, provider: "openai", model: "text-embedding-3-small", dimensions: 1_536 },
  { ...takesAll, provider: "openai", model: "text-embedding-3-large", dimensions: 3_072 },
  { ...takesAll, provider: "openai-compatible", model: "local-embed", dimensions: 768 },
  { ...takesAll, provider: "mistral", model: "mistral-embed", dimensions: 1_024, tokens: false },
  { ...takesAll, provider: "byteplus", model: "some-text-embedding", dimensions: 2_048, tokens: false },
  {
    provider: "google",
    base: "/v1beta/openai",
    model: "gemini-embedding-001",
    dimensions: 3_072,
    tokens: false,
    base64: false,
    usage: false,
  },
];

const lengthOf = (vector: readonly number[]): number => Math.hypot(...vector);
const nearness = (left: readonly number[], right: readonly number[]): number => {
  return left.reduce((sum, component, index) => sum + component * (right[index] ?? 0), 0);
};

describe.each(embedders.map((embedder) => [embedder.model, embedder] as const))("%s", (model, embedder) => {
  const url = (): string => `${simulators.providers[embedder.provider]}${embedder.base}`;
  const client = (): OpenAI => new OpenAI({ baseURL: url(), apiKey: "good-key", maxRetries: 0 });
  const floats = async (input: string | string[] | number[] | number[][]) => {
    return client().embeddings.create({ model, input, encoding_format: "float" });
  };

  test("units of the model's dimensions, the same for the same text", async () => {
    const answer = await floats(["a red apple", "an apple that is red", "tax law of 1987", "a red apple"]);
    expect(answer).toMatchObject({ object: "list", model });
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    const vectors = answer.data.map(({ embedding }) => embedding);
    for (const vector of vectors) {
      expect(vector).toHaveLength(embedder.dimensions);
      expect(lengthOf(vector)).toBeCloseTo(1, 5);
    }
    const [apple = [], alike = [], law = [], again = []] = vectors;
    expect(again).toEqual(apple);
    expect(nearness(apple, alike)).toBeGreaterThan(nearness(apple, law) + 0.3);
  });

  test("usage counts four characters per token, if it is reported", async () => {
    const answer = await floats(["12345678", "123"]);
    expect(member(answer, "usage", "total_tokens")).toBe(embedder.usage ? 3 : undefined);
  });

  test("the SDK's own base64 decodes to the floats, or floats are sent anyway", async () => {
    const plain = await floats("hello");
    const reply = await post(`${url()}/embeddings`, { model, input: "hello", encoding_format: "base64" });
    const told = member(bodyOf(reply), "data", 0, "embedding");
    expect(typeof told).toBe(embedder.base64 ? "string" : "object");
    if (!embedder.base64) return;
    const decoded = await client().embeddings.create({ model, input: "hello" });
    expect(Float32Array.from(decoded.data[0]?.embedding ?? [])).toEqual(
      Float32Array.from(plain.data[0]?.embedding ?? []),
    );
  });

  test("tokens stand for a text, or are refused", async () => {
    if (!embedder.tokens) {
      expect((await post(`${url()}/embeddings`, { model, input: [1, 2, 3] })).status).toBeGreaterThanOrEqual(400);
      return;
    }
    const one = await floats([1, 2, 3]);
    expect(one.data).toHaveLength(1);
    const two = await floats([
      [1, 2, 3],
      [4, 5],
    ]);
    expect(two.data[0]?.embedding).toEqual(one.data[0]?.embedding ?? []);
    expect(two.usage.prompt_tokens).toBe(5);
  });

  test("nothing to embed, a wrong key, a missing model and a fault", async () => {
    for (const input of ["", [], [""], 7, null, { text: "x" }]) {
      const reply = await post(`${url()}/embeddings`, { model, input });
      expect([400, 422], JSON.stringify(input)).toContain(reply.status);
    }
    const refused = await post(`${url()}/embeddings`, { model, input: "x" }, { authorization: "Bearer bad-key" });
    expect([400, 401]).toContain(refused.status);
    const missing = await post(`${url()}/embeddings`, { model: "missing-model", input: "x" });
    expect([400, 404]).toContain(missing.status);
    expect((await post(`${url()}/embeddings`, { model: `${model}+status-503`, input: "x" })).status).toBe(503);
    const quiet = await post(`${url()}/embeddings`, { model: `${model}+no-usage`, input: "x" });
    expect(bodyOf(quiet)).not.toHaveProperty("usage");
  });
});

describe("each in its own way", () => {
  const ask = (provider: SimulatorName, path: string, body: unknown) => {
    return post(simulators.providers[provider] + path, body);
  };
  const vectorOf = (text: { readonly text: string }, ...path: readonly (string | number)[]) => {
    return asArray(member(bodyOf(text), ...path)).map(Number);
  };

  test("openai: shorter vectors are the beginning of longer ones, and ada has no choice", async () => {
    const body = { model: "text-embedding-3-small", input: "hello", encoding_format: "float" };
    const short = vectorOf(await ask("openai", "/embeddings", { ...body, dimensions: 8 }), "data", 0, "embedding");
    const long = vectorOf(await ask("openai", "/embeddings", body), "data", 0, "embedding");
    expect(short).toHaveLength(8);
    expect(lengthOf(short)).toBeCloseTo(1, 5);
    expect(nearness(short, long.slice(0, 8)) / lengthOf(long.slice(0, 8))).toBeCloseTo(1, 5);
    const refusals = [
      { model: "text-embedding-ada-002", dimensions: 8 },
      { dimensions: 1_537 },
      { dimensions: 0 },
      { input: Array.from({ length: 2_049 }, () => "x") },
      { input: "x".repeat(4 * 8_193) },
      { input: Array.from({ length: 40 }, () => "x".repeat(4 * 8_000)) },
      { encoding_format: "hex" },
      { task: "search" },
    ];
    for (const refusal of refusals) {
      expect((await ask("openai", "/embeddings", { ...body, ...refusal })).status, JSON.stringify(refusal)).toBe(400);
    }
  });

  test("mistral: its own names, and vectors of a byte or a bit per component", async () => {
    const body = { model: "codestral-embed", input: "hello" };
    expect((await ask("mistral", "/embeddings", { ...body, dimensions: 8 })).text).toContain("extra_forbidden");
    const bits = await ask("mistral", "/embeddings", { ...body, output_dimension: 64, output_dtype: "ubinary" });
    expect(vectorOf(bits, "data", 0, "embedding")).toHaveLength(8);
    const bytes = vectorOf(
      await ask("mistral", "/embeddings", { ...body, output_dtype: "int8" }),
      "data",
      0,
      "embedding",
    );
    expect(bytes).toHaveLength(1_536);
    expect(Math.max(...bytes.map(Math.abs))).toBe(127);
    expect(
      (await ask("mistral", "/embeddings", { ...body, model: "mistral-embed", output_dimension: 64 })).status,
    ).toBe(400);
  });

  test("google: ids with and without their prefix, the native calls, and unknown members", async () => {
    const native = "/v1beta/models/gemini-embedding-001";
    const content = { parts: [{ text: "hello" }] };
    const one = await ask("google", `${native}:embedContent`, { content, outputDimensionality: 16 });
    expect(vectorOf(one, "embedding", "values")).toHaveLength(16);
    expect(member(bodyOf(one), "usageMetadata", "promptTokenCount")).toBe(2);
    const request = { model: "models/gemini-embedding-001", content };
    const many = await ask("google", `${native}:batchEmbedContents`, { requests: [request, request] });
    expect(asArray(member(bodyOf(many), "embeddings"))).toHaveLength(2);
    expect((await ask("google", `${native}:batchEmbedContents`, { requests: [{ content }] })).status).toBe(400);
    expect((await ask("google", `${native}+status-429:embedContent`, { content })).status).toBe(429);
    expect((await ask("google", "/v1beta/models/missing-model:embedContent", { content })).status).toBe(404);
    const compat = { model: "models/gemini-embedding-001", input: "hello" };
    const named = await ask("google", "/v1beta/openai/embeddings", compat);
    expect(member(bodyOf(named), "model")).toBe("gemini-embedding-001");
    expect((await ask("google", "/v1beta/openai/embeddings", { ...compat, user: "me" })).status).toBe(400);
  });

  test("byteplus: texts and images become one vector in an object", async () => {
    const input = [
      { type: "text", text: "a cat" },
      { type: "image_url", image_url: { url: "https://example.com/cat.png" } },
    ];
    const body = { model: "skylark-embedding-vision-250615", input, dimensions: 1_024 };
    const more = { sparse_embedding: { type: "enabled" }, multi_embedding: { type: "enabled" } };
    const reply = await ask("byteplus", "/embeddings/multimodal", { ...body, ...more });
    expect(vectorOf(reply, "data", "embedding")).toHaveLength(1_024);
    expect(asArray(member(bodyOf(reply), "data", "multi_embedding"))).toHaveLength(2);
    expect(member(bodyOf(reply), "data", "sparse_embedding", 0)).toEqual({ index: 1_000, value: 1 });
    expect(member(bodyOf(reply), "usage")).toEqual({
      prompt_tokens: 314,
      total_tokens: 314,
      prompt_tokens_details: { text_tokens: 2, image_tokens: 312 },
    });
    expect((await ask("byteplus", "/embeddings/multimodal", { ...body, input: "a cat" })).status).toBe(400);
    expect((await ask("byteplus", "/embeddings/multimodal", { ...body, dimensions: 8 })).status).toBe(400);
  });
});
