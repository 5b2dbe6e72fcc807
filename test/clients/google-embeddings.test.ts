/** Vectors by Google's clients, from every kind of provider that makes some. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { GoogleGenAI } from "@google/genai";
import { embed, embedMany } from "ai";
import { imageFile } from "../../simulators/testing/media.ts";
import { type Caller, lastReceived, type Rig, simulatedKey, startRig } from "../kit/index.ts";

let rig: Rig;
let caller: Caller;
let google: GoogleGenAI;
beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  rig = await startRig({
    config: {
      upstream: { retries: 0 },
      routing: {
        routes: {
          mixed: { tiers: [[{ model: "cohere/embed-v4.0" }], [{ model: "google/gemini-embedding-001" }]] },
          alike: { tiers: [[{ model: "google/gemini-embedding-001" }], [{ model: "google/gemini-embedding-2" }]] },
        },
      },
      pricing: { models: { "*/missing-model": { input_mtok: 1 }, "jina/*": { input_mtok: 0.05 } } },
    },
    providers: ({ providers }) => ({
      cohere: { kind: "cohere", base_url: providers.cohere, api_key: simulatedKey },
      jina: { kind: "jina", base_url: providers.jina, api_key: simulatedKey },
      voyage: { kind: "voyage", base_url: providers.voyage, api_key: simulatedKey },
    }),
  });
  caller = await rig.caller();
  google = new GoogleGenAI({ apiKey: caller.token, httpOptions: { baseUrl: rig.gateway.url } });
});
beforeEach(() => rig.simulators.clear());
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

interface Answer {
  embedding?: { values: number[] };
  embeddings?: { values: number[] }[];
  usageMetadata?: { promptTokenCount: number };
  error?: { code: number; status: string; message: string };
}

async function post(model: string, method: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${rig.gateway.url}/v1beta/models/${model}:${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-goog-api-key": caller.token, ...headers },
    body: JSON.stringify(body),
  });
  return { response, answer: (await response.json()) as Answer };
}

/** For each model, the path of its upstream's request, and the fields of that request that contain the purpose of a text. */
const kinds: [model: string, path: string, purpose: object][] = [
  ["openai/text-embedding-3-small", "/embeddings", {}],
  ["google/gemini-embedding-001", ":batchEmbedContents", { taskType: "RETRIEVAL_QUERY" }],
  ["cohere/embed-v4.0", "/v2/embed", { input_type: "search_query" }],
  ["jina/jina-embeddings-v4", "/embeddings", { task: "retrieval.query" }],
  ["voyage/voyage-3.5", "/embeddings", { input_type: "query" }],
];

describe.each(kinds)("%s", (model, path, purpose) => {
  test("makes vectors for Google's SDK, and is told their purpose", async () => {
    const config = { taskType: "RETRIEVAL_QUERY", outputDimensionality: 256 };
    const { embeddings } = await google.models.embedContent({ model, contents: ["a text", "another"], config });
    expect(embeddings?.map(({ values }) => values?.length)).toEqual([256, 256]);
    const { path: asked, body } = lastReceived(rig);
    expect(asked).toEndWith(path);
    const sent = JSON.parse(body) as { requests?: object[] };
    expect(sent.requests?.[0] ?? sent).toMatchObject(purpose);
    if (Object.keys(purpose).length === 0) expect(sent).not.toHaveProperty("input_type");
  });

  test("costs and answers the same as at /v1/embeddings", async () => {
    const { response, answer } = await post(model, "embedContent", { content: { parts: [{ text: "a longer text" }] } });
    const plain = await fetch(`${rig.gateway.url}/v1/embeddings`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${caller.token}` },
      body: JSON.stringify({ model, input: "a longer text", encoding_format: "float" }),
    });
    const { data } = (await plain.json()) as { data: { embedding: number[] }[] };
    expect(answer.embedding?.values).toEqual(data[0]?.embedding);
    const cost = response.headers.get("x-tollgate-credits");
    expect(Number(cost)).toBeGreaterThan(0);
    expect(cost).toBe(plain.headers.get("x-tollgate-credits"));
  });
});

test("the AI SDK makes one vector and several", async () => {
  const provider = createGoogleGenerativeAI({ apiKey: caller.token, baseURL: `${rig.gateway.url}/v1beta` });
  const model = provider.embedding("openai/text-embedding-3-small");
  const one = await embed({ model, value: "a text" });
  const { embeddings } = await embedMany({ model, values: ["a text", "another"] });
  expect(embeddings).toHaveLength(2);
  expect(one.embedding).toEqual(embeddings[0] ?? []);
});

describe("a purpose where a call may go to several providers", () => {
  const body = { content: { parts: [{ text: "a fox" }] }, taskType: "CLUSTERING" };

  test.each<[string, string, Record<string, string>, boolean]>([
    ["is told to all of a route that have the same word", "alike", {}, true],
    ["is told to none of a route whose words differ", "mixed", {}, false],
    [
      "is told to none of the call's own",
      "google/gemini-embedding-001",
      { "x-tollgate-fallback": "cohere/embed-v4.0" },
      false,
    ],
  ])("%s", async (_title, model, headers, isTold) => {
    const { response } = await post(model, "embedContent", body, headers);
    expect(response.status).toBe(200);
    expect(/clustering/i.test(lastReceived(rig).body)).toBe(isTold);
  });
});

test("a title and an image reach Google by its own API, and what it counts is told and charged", async () => {
  const data = Buffer.from(await imageFile(8, 8).bytes()).toString("base64");
  const parts = [{ text: "a fox" }, { inline_data: { mime_type: "image/png", data } }];
  const setting = { task_type: "RETRIEVAL_DOCUMENT", title: "Foxes" };
  const { response, answer } = await post("google/gemini-embedding-001", "embedContent", {
    content: { parts },
    ...setting,
  });
  expect(JSON.parse(lastReceived(rig).body)).toEqual({
    requests: [
      {
        model: "models/gemini-embedding-001",
        content: { parts: [{ text: "a fox" }, { inlineData: { mimeType: "image/png", data } }] },
        taskType: "RETRIEVAL_DOCUMENT",
        title: "Foxes",
      },
    ],
  });
  const tokens = answer.usageMetadata?.promptTokenCount ?? 0;
  expect(tokens).toBeGreaterThan(0);
  // 0.15 credits for a million tokens.
  expect(response.headers.get("x-tollgate-credits")).toBe((tokens * 0.000_000_15).toFixed(9).replace(/0+$/, ""));
});

describe("refused in Google's shape", () => {
  const parts = [{ text: "a text" }];
  const request = { content: { parts } };

  test.each<[string, string, string, object, number, string]>([
    ["no content", "openai/text-embedding-3-small", "embedContent", {}, 422, "content"],
    ["no parts", "openai/text-embedding-3-small", "embedContent", { content: { parts: [] } }, 422, "content.parts"],
    [
      "an unknown part",
      "openai/text-embedding-3-small",
      "embedContent",
      { content: { parts: [{ sound: 1 }] } },
      422,
      "content.parts",
    ],
    ["no requests", "openai/text-embedding-3-small", "batchEmbedContents", { requests: [] }, 422, "requests"],
    [
      "more requests than Google takes",
      "google/gemini-embedding-001",
      "batchEmbedContents",
      { requests: Array.from({ length: 100_000 }, () => 0) },
      422,
      "a list of 1 to 100",
    ],
    [
      "requests of no shape",
      "openai/text-embedding-3-small",
      "batchEmbedContents",
      { requests: [0] },
      422,
      "requests.0",
    ],
    [
      "a document",
      "google/gemini-embedding-001",
      "embedContent",
      { content: { parts: [{ inlineData: { mimeType: "application/pdf", data: "AAAA" } }] } },
      422,
      "content.parts",
    ],
    [
      "a file in Google's store",
      "google/gemini-embedding-001",
      "embedContent",
      { content: { parts: [{ fileData: { mimeType: "image/png", fileUri: "gs://bucket/cat.png" } }] } },
      422,
      "input",
    ],
    [
      "requests with different settings",
      "openai/text-embedding-3-small",
      "batchEmbedContents",
      { requests: [request, { ...request, taskType: "CLUSTERING" }] },
      422,
      "requests.1",
    ],
    ["a model without vectors", "anthropic/claude-haiku-4-5", "embedContent", request, 404, "embeddings"],
    ["an upstream's refusal", "openai/missing-model", "embedContent", request, 404, "model"],
  ])("%s", async (_title, model, method, body, status, named) => {
    const { response, answer } = await post(model, method, body);
    expect([response.status, answer.error?.code]).toEqual([status, status]);
    expect(answer.error?.message).toContain(named);
  });

  test("a repeated key, and a caller who may not use the model", async () => {
    const key = { "idempotency-key": "vectors-1" };
    const [first, again] = [
      await post("openai/text-embedding-3-small", "embedContent", request, key),
      await post("openai/text-embedding-3-small", "embedContent", request, key),
    ];
    expect(again.answer).toEqual(first.answer);
    const other = await post(
      "openai/text-embedding-3-small",
      "embedContent",
      { content: { parts: [{ text: "x" }] } },
      key,
    );
    expect([other.response.status, other.answer.error?.status]).toEqual([409, "ABORTED"]);
    const narrow = await rig.gateway.token({ user: "narrow", models: ["anthropic/*"] });
    const refused = await post("openai/text-embedding-3-small", "embedContent", request, { "x-goog-api-key": narrow });
    expect(refused.response.status).toBe(404);
  });
});
