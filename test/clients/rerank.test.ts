/** Rankings by the SDKs of Cohere and Voyage, at every kind of upstream that has them; the charges are worked out by hand. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CohereClientV2 } from "cohere-ai";
import { VoyageAIClient } from "voyageai";
import {
  creditsText,
  generationOf,
  lastReceived,
  post,
  type Rig,
  type ScriptedUpstream,
  simulatedKey,
  startRig,
  startScriptedUpstream,
} from "../kit/index.ts";

let rig: Rig;
let scripted: ScriptedUpstream;
beforeAll(async () => {
  scripted = startScriptedUpstream();
  rig = await startRig({
    config: {
      upstream: { retries: 0 },
      pricing: {
        models: {
          "*/missing-model": { input_mtok: 0.05 },
          "local/*": { input_mtok: 0.05 },
          "router/*": { search_units_kcount: 2 },
          "router/by-tokens": { input_mtok: 0.05 },
          "router/by-both": { search_units_kcount: 2, input_mtok: 0.05 },
          "router/by-call": { requests_kcount: 1 },
          // Their list prices are those of names without a fault.
          "cohere/rerank-v3.5*": { search_units_kcount: 2 },
          "voyage/rerank-3*": { input_mtok: 0.05 },
        },
      },
    },
    providers: ({ providers }) => ({
      cohere: { kind: "cohere", base_url: providers.cohere, api_key: simulatedKey },
      jina: { kind: "jina", base_url: providers.jina, api_key: simulatedKey },
      voyage: { kind: "voyage", base_url: providers.voyage.replace(/\/v1$/, ""), api_key: simulatedKey },
      local: { kind: "openai-compatible", base_url: providers["openai-compatible"], api_key: simulatedKey },
      router: { kind: "openai-compatible", preset: "openrouter", base_url: scripted.url, api_key: simulatedKey },
    }),
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await scripted.stop();
});

/** With the query, 6 + 6, 6 + 4 and 6 + 5 tokens at four characters each. */
const query = "the capital of France?";
const documents = ["Berlin is a city there.", "A cat sat there", "Paris: capital of France"];
const tokens = 6 * 3 + 6 + 4 + 6;

/** What an upstream gets beside `model`, `query` and `documents`, and what the call costs in nano-credits. */
const kinds = {
  // Two thousandths of a credit for a search unit.
  cohere: { model: "rerank-v3.5", path: "/cohere/v2/rerank", sent: { top_n: 2 }, nano: 2_000_000n },
  jina: {
    model: "jina-reranker-v3.5",
    path: "/jina/v1/rerank",
    sent: { top_n: 2, return_documents: false },
    nano: BigInt(tokens) * 50n,
  },
  voyage: {
    model: "rerank-3",
    path: "/voyage/v1/rerank",
    sent: { top_k: 2, return_documents: false },
    nano: BigInt(tokens) * 50n,
  },
  local: {
    model: "bge-reranker-v2",
    path: "/openai-compatible/v1/rerank",
    sent: { top_n: 2 },
    nano: BigInt(tokens) * 50n,
  },
};

const rank = (token: string, body: object, path = "/v1/rerank") => post(rig, path, token, body);

describe.each(Object.entries(kinds))("%s", (prefix, { model: name, path, sent, nano }) => {
  const model = `${prefix}/${name}`;

  test("the SDK of Cohere", async () => {
    const caller = await rig.caller();
    const client = new CohereClientV2({ token: caller.token, environment: rig.gateway.url });
    const answer = await client.rerank({ model, query, documents, topN: 2 });
    expect(answer.results.map(({ index }) => index)).toEqual([2, 0]);
    expect(answer.results[0]?.relevanceScore).toBeGreaterThan(answer.results[1]?.relevanceScore ?? 1);
    expect(answer.meta?.billedUnits).toMatchObject(prefix === "cohere" ? { searchUnits: 1 } : { inputTokens: tokens });
    expect(lastReceived(rig).path).toBe(path);
    expect(JSON.parse(lastReceived(rig).body)).toEqual({ model: name, query, documents, ...sent });
    expect(await caller.closed()).toBe(nano);
  });

  test("the SDK of Voyage, with the documents", async () => {
    const caller = await rig.caller();
    const client = new VoyageAIClient({ apiKey: caller.token, baseUrl: `${rig.gateway.url}/v1` });
    const answer = await client.rerank({ model, query, documents, topK: 2, returnDocuments: true });
    expect(answer.data?.map(({ index, document }) => [index, document])).toEqual([
      [2, documents[2]],
      [0, documents[0]],
    ]);
    expect(answer.usage?.totalTokens).toBe(prefix === "cohere" ? 0 : tokens);
    expect(await caller.closed()).toBe(nano);
  });

  test.each(["/v1/rerank", "/v2/rerank"])("%s: documents as objects, returned as they came", async (route) => {
    const caller = await rig.caller();
    const objects = documents.map((text) => ({ text }));
    const body = { model, query, documents: objects, top_n: 1, return_documents: true };
    const answer = await rank(caller.token, body, route);
    expect(answer.status).toBe(200);
    const { results } = (await answer.json()) as { results: { document: unknown }[] };
    expect(results.map(({ document }) => document)).toEqual([objects[2]]);
    const { operation, usage } = (await generationOf(rig, caller, answer)) as { operation: string; usage: object };
    expect(operation).toBe("rerank");
    expect(usage).toMatchObject(prefix === "cohere" ? { search_units: 1 } : { input: tokens });
    expect(answer.headers.get("x-tollgate-credits")).toBe(creditsText(nano));
    expect(await caller.closed()).toBe(nano);
  });

  test("the upstream's refusal is relayed, and free", async () => {
    const caller = await rig.caller();
    const answer = await rank(caller.token, { model: `${prefix}/missing-model`, query, documents });
    expect([answer.status, await caller.closed()]).toEqual([prefix === "cohere" || prefix === "local" ? 404 : 400, 0n]);
  });
});

test("a hundred and one documents are two search units", async () => {
  const caller = await rig.caller();
  const many = Array.from({ length: 101 }, (_, index) => `document ${index}`);
  const answer = await rank(caller.token, { model: "cohere/rerank-v3.5", query, documents: many });
  const { results } = (await answer.json()) as { results: unknown[] };
  expect([results.length, await caller.closed()]).toEqual([101, 4_000_000n]);
});

describe("an answer without units", () => {
  const answered = (body: object) =>
    scripted.answerWith(() => Response.json({ results: [{ index: 0, relevance_score: 0.5 }], ...body }));

  test("is charged one for each hundred documents that are begun", async () => {
    const caller = await rig.caller();
    answered({});
    const many = Array.from({ length: 201 }, () => "document");
    expect((await rank(caller.token, { model: "router/r", query, documents: many })).status).toBe(200);
    expect(await caller.closed()).toBe(6_000_000n);
  });

  test("costs what the upstream reports instead", async () => {
    const caller = await rig.caller();
    answered({ usage: { search_units: 1, cost: 0.0025 } });
    expect((await rank(caller.token, { model: "router/r", query, documents })).status).toBe(200);
    expect(await caller.closed()).toBe(2_500_000n);
  });

  test.each([
    // 128 bytes of the query with each document are 32 tokens, four bytes each.
    ["router/by-tokens", { meta: { billed_units: { search_units: 1 } } }, 1_600n, ["input"]],
    ["router/by-tokens", { meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: 7 } } }, 350n, undefined],
    ["router/by-both", { meta: { billed_units: { search_units: 1 } } }, 2_000_000n, undefined],
    ["router/by-call", { meta: { billed_units: { search_units: 1 } } }, 1_000_000n, undefined],
    ["router/r", { meta: { billed_units: { search_units: 1 } } }, 2_000_000n, undefined],
  ])("%s: search units stand for the tokens if they have a price: %j", async (model, told, nano, estimated) => {
    const caller = await rig.caller();
    answered(told);
    const answer = await rank(caller.token, { model, query, documents });
    expect([answer.status, await caller.closed()]).toEqual([200, nano]);
    const record = (await generationOf(rig, caller, answer)) as { estimated?: string[] };
    expect(record.estimated).toEqual(estimated);
  });

  test("results for documents that there are not are left out", async () => {
    const caller = await rig.caller();
    const result = (index: number, relevance_score: unknown) => ({ index, relevance_score });
    scripted.answerWith(() =>
      Response.json({ results: [result(1, 0.1), result(7, 0.9), result(0, 0.7), result(0, 0.2), result(2, "best")] }),
    );
    const answer = await rank(caller.token, { model: "router/r", query, documents });
    const { results } = (await answer.json()) as { results: unknown[] };
    expect(results).toEqual([result(0, 0.7), result(1, 0.1)]);
  });
});

test.each<[string, object, string]>([
  ["no documents", { documents: [] }, "documents"],
  ["a document without text at an upstream of texts", { documents: [{ image: "x" }] }, "documents.0"],
  ["no query", { query: undefined }, "query"],
  ["no results", { top_n: 0 }, "top_n"],
  ["a stream", { stream: true }, "stream"],
])("%s: refused, and free", async (_title, change, param) => {
  const caller = await rig.caller();
  const answer = await rank(caller.token, { model: "cohere/rerank-v3.5", query, documents, ...change });
  const { error } = (await answer.json()) as { error: { param: string } };
  expect([answer.status, error.param, await caller.closed()]).toEqual([422, param, 0n]);
});

describe("vectors of their models, by OpenAI's route", () => {
  test.each<[string, object, object, bigint]>([
    [
      "cohere/embed-v4.0",
      { input: "12345678", dimensions: 256, encoding_format: "base64" },
      { texts: ["12345678"], input_type: "search_document", embedding_types: ["base64"], output_dimension: 256 },
      240n,
    ],
    [
      "cohere/embed-v4.0",
      { input: ["12345678"], input_type: "search_query" },
      { texts: ["12345678"], input_type: "search_query", embedding_types: ["float"] },
      240n,
    ],
    [
      "voyage/voyage-3.5",
      { input: "12345678", dimensions: 256, encoding_format: "float", input_type: "query", user: "u" },
      { input: "12345678", output_dimension: 256, input_type: "query" },
      120n,
    ],
    [
      "voyage/voyage-3.5",
      { input: "12345678", encoding_format: "base64" },
      { input: "12345678", encoding_format: "base64" },
      120n,
    ],
  ])("%s: %j", async (model, body, sent, nano) => {
    const caller = await rig.caller();
    const answer = await post(rig, "/v1/embeddings", caller.token, { model, ...body });
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as { data: { embedding: unknown; index: number }[] };
    expect(data).toHaveLength(1);
    expect(typeof data[0]?.embedding).toBe(
      "encoding_format" in body && body.encoding_format === "base64" ? "string" : "object",
    );
    expect(JSON.parse(lastReceived(rig).body)).toEqual({ model: model.split("/")[1], ...sent });
    expect(await caller.closed()).toBe(nano);
  });
});

test("their models are listed with the operation, and chat is not theirs", async () => {
  const { token } = await rig.caller();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${rig.gateway.url}/v1/models`, { headers });
  const { data } = (await answer.json()) as { data: { id: string; operations: string[] }[] };
  const operationsOf = (id: string) => data.find((model) => model.id === id)?.operations;
  expect(operationsOf("cohere/rerank-v3.5")).toEqual(["rerank"]);
  expect(operationsOf("jina/jina-reranker-v3.5")).toEqual(["rerank"]);
  expect(operationsOf("cohere/embed-v4.0")).toEqual(["embeddings"]);
  expect(operationsOf("cohere/command-a-03-2025")).toBeUndefined();
  const chat = await post(rig, "/v1/chat/completions", token, {
    model: "cohere/rerank-v3.5",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(chat.status).toBe(404);
});
