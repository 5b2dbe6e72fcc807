/** Embeddings by the official SDK, of every kind of upstream that has them; the charges are worked out by hand. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  askAgain,
  creditsText,
  expectRefusal,
  generationOf,
  lastReceived,
  newClient,
  post,
  type Refusal,
  type Rig,
  type ScriptedUpstream,
  sha256,
  simulatedKey,
  startRig,
  startScriptedUpstream,
} from "../kit/index.ts";

const path = "/v1/embeddings";

let rig: Rig;
let scripted: ScriptedUpstream;
beforeAll(async () => {
  scripted = startScriptedUpstream();
  rig = await startRig({
    config: {
      server: { body_limit: "256KiB" },
      upstream: { retries: 1 },
      pricing: {
        models: {
          "byteplus/*": { input_mtok: 0.12 },
          "local/*": { input_mtok: 0.05 },
          "odd/*": { input_mtok: 0.05 },
          // Other models have their list price, unless their name contains a fault.
          "openai/*+*": { input_mtok: 0.02 },
          "google/*+*": { input_mtok: 0.15 },
          "mistral/*+*": { input_mtok: 0.15 },
        },
      },
    },
    providers: ({ providers }) => ({
      local: { kind: "openai-compatible", base_url: providers["openai-compatible"], api_key: simulatedKey },
      odd: { kind: "openai-compatible", base_url: scripted.url, api_key: simulatedKey },
      chatty: { kind: "openai", base_url: providers.openai, api_key: simulatedKey, dialects: ["chat"] },
    }),
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await scripted.stop();
});

interface Kind {
  model: string;
  /** The path of the upstream's route. */
  path: string;
  /** Nano-credits a token: its price per million tokens, in thousandths. */
  nano: bigint;
  /** The name that it has for `dimensions`, and a number that it takes. */
  dimensions: [name: string, count: number];
  takesTokens: boolean;
  /** Whether it supports base64 and reports usage; google does neither. */
  plain: boolean;
}

const usual = { dimensions: ["dimensions", 256] as [string, number], takesTokens: true, plain: true };
const kinds: Record<string, Kind> = {
  openai: {
    ...usual,
    model: "text-embedding-3-small",
    path: "/openai/v1/embeddings",
    nano: 20n,
  },
  google: {
    ...usual,
    model: "gemini-embedding-001",
    path: "/google/v1beta/openai/embeddings",
    nano: 150n,
    takesTokens: false,
    plain: false,
  },
  mistral: {
    ...usual,
    model: "codestral-embed",
    path: "/mistral/v1/embeddings",
    nano: 150n,
    dimensions: ["output_dimension", 256],
    takesTokens: false,
  },
  byteplus: {
    ...usual,
    model: "some-text-embedding",
    path: "/byteplus/api/v3/embeddings",
    nano: 120n,
    dimensions: ["dimensions", 1_024],
    takesTokens: false,
  },
  local: {
    ...usual,
    model: "local-embed",
    path: "/openai-compatible/v1/embeddings",
    nano: 50n,
  },
};

/** 20 characters, and 8: five tokens and two, at four characters each, as in the simulators. */
const fox = "The quick brown fox.";
const texts = [fox, "12345678"];

function embed(token: string, body: string | object, headers: Record<string, string> = {}): Promise<Response> {
  return post(rig, path, token, body, { headers });
}

interface Vectors {
  data: { index: number; embedding: number[] }[];
}

/** Vectors as numbers of 32 bits, in which base64 has them. */
const rounded = ({ data }: Vectors): number[][] => data.map(({ embedding }) => [...Float32Array.from(embedding)]);

describe.each(Object.entries(kinds))("%s", (prefix, kind) => {
  const model = `${prefix}/${kind.model}`;

  test.each<[string, string | string[], bigint, number]>([
    ["a text", fox, 5n, 1],
    ["texts", texts, 7n, 2],
  ])("%s, as the SDK asks for it: by base64, which it decodes", async (_what, input, tokens, count) => {
    const { client, caller } = await newClient(rig);
    const answer = await client.embeddings.create({ model, input });
    expect(answer).toMatchObject({ object: "list", model: kind.model });
    expect(answer.data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
    const format = kind.plain ? "base64" : "float";
    expect(lastReceived(rig).body).toBe(JSON.stringify({ model: kind.model, input, encoding_format: format }));
    expect(lastReceived(rig).path).toBe(kind.path);
    const floats = await askAgain(rig, { model: kind.model, input, encoding_format: "float" });
    expect(rounded(answer)).toEqual(rounded((await floats.json()) as Vectors));
    expect(await caller.closed()).toBe(tokens * kind.nano);
  });

  test("floats: the upstream's bytes", async () => {
    const { caller } = await newClient(rig);
    const answer = await embed(caller.token, { model, input: texts, encoding_format: "float" });
    expect(lastReceived(rig).path).toBe(kind.path);
    expect(sha256(await answer.arrayBuffer())).toBe(sha256(await (await askAgain(rig)).arrayBuffer()));
    expect(answer.headers.get("x-tollgate-credits")).toBe(creditsText(7n * kind.nano));
    expect(await caller.closed()).toBe(7n * kind.nano);
  });

  test("dimensions, under the upstream's own name of them", async () => {
    const { client } = await newClient(rig);
    const [name, count] = kind.dimensions;
    const answer = await client.embeddings.create({ model, input: fox, dimensions: count });
    expect(answer.data[0]?.embedding).toHaveLength(count);
    expect(JSON.parse(lastReceived(rig).body)).toMatchObject({ [name]: count });
  });

  test.each<[string, number[] | number[][], bigint]>([
    ["the tokens of a text", [1, 2, 3], 3n],
    [
      "the tokens of texts",
      [
        [1, 2, 3],
        [4, 5],
      ],
      5n,
    ],
  ])("%s", async (_what, input, tokens) => {
    const { client, caller } = await newClient(rig);
    const answered = client.embeddings.create({ model, input });
    if (kind.takesTokens) expect((await answered).data).toHaveLength(tokens === 3n ? 1 : 2);
    // The upstream's own refusal, which is free.
    else expect(await answered.catch((thrown: unknown) => thrown)).toBeInstanceOf(OpenAI.APIError);
    expect(JSON.parse(lastReceived(rig).body)).toMatchObject({ input });
    expect(await caller.closed()).toBe(kind.takesTokens ? tokens * kind.nano : 0n);
  });

  test("an answer without usage is charged by an estimate: a token per four bytes, or each sent token id", async () => {
    const { client, caller } = await newClient(rig);
    // 7 and 13 bytes.
    await client.embeddings.create({ model: `${model}+no-usage`, input: ["größe", "größe groß"] });
    expect(await caller.closed()).toBe(5n * kind.nano);
    if (!kind.takesTokens) return;
    await client.embeddings.create({
      model: `${model}+no-usage`,
      input: [
        [1, 2, 3],
        [4, 5],
      ],
    });
    expect(await caller.closed()).toBe(5n * kind.nano + 5n * kind.nano);
  });

  test("a failed upstream costs nothing, also under a status of success", async () => {
    const { client, caller } = await newClient(rig);
    const fails = async (fault: string, status: number) => {
      const thrown: unknown = await client.embeddings
        .create({ model: `${model}+${fault}`, input: fox })
        .catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(OpenAI.APIError);
      expect(thrown).toMatchObject({ status });
    };
    await fails("status-400", 400);
    await fails("cut-0", 502);
    const hidden = await embed(caller.token, { model: `${model}+error-200`, input: fox });
    // Google's errors are lists, which no answer is.
    expect(hidden.status).toBe(prefix === "google" ? 502 : 200);
    expect(await caller.closed()).toBe(0n);
  });

  test("another attempt follows a failure that passes", async () => {
    const { client, caller } = await newClient(rig);
    const answer = await client.embeddings.create({ model: `${model}+status-500+times-1`, input: fox });
    expect(answer.data).toHaveLength(1);
    expect(rig.simulators.total()).toBe(2);
    expect(await caller.closed()).toBe(5n * kind.nano);
  });
});

test.each(["openai", "mistral", "byteplus", "local"])("%s: base64 passes byte for byte", async (prefix) => {
  const kind = kinds[prefix];
  if (kind === undefined) throw new Error(prefix);
  const { caller } = await newClient(rig);
  const text = `{ "encoding_format" : "base64", "input":["gr\\u00f6\\u00dfer", "größer"],  "model": "${prefix}/${kind.model}" }`;
  const answer = await embed(caller.token, text);
  expect(lastReceived(rig).body).toBe(text.replace(`${prefix}/`, ""));
  expect(lastReceived(rig).path).toBe(kind.path);
  const bytes = await answer.arrayBuffer();
  expect(Buffer.from(bytes).toString("utf8")).toMatch(/"embedding":"[A-Za-z0-9+/]+=*"/);
  expect(sha256(bytes)).toBe(sha256(await (await askAgain(rig)).arrayBuffer()));
});

describe("a multimodal model of byteplus", () => {
  const model = "byteplus/skylark-embedding-vision-250615";

  test("gets a text as a part, and its one vector comes in a list", async () => {
    const { client, caller } = await newClient(rig);
    const answer = await client.embeddings.create({ model, input: "gr\u00f6\u00dfer \u4e2d", dimensions: 1_024 });
    expect(lastReceived(rig).path).toEndWith("/embeddings/multimodal");
    expect(JSON.parse(lastReceived(rig).body)).toMatchObject({
      model: "skylark-embedding-vision-250615",
      input: [{ type: "text", text: "größer 中" }],
    });
    expect(answer.data).toHaveLength(1);
    expect(answer.data[0]?.embedding).toHaveLength(1_024);
    // Eight characters are two tokens.
    expect(await caller.closed()).toBe(2n * 120n);
  });

  test("takes pictures, each of 312 tokens", async () => {
    const { caller } = await newClient(rig);
    const picture = { type: "image_url", image_url: { url: "https://pictures.example/cat.png" } };
    const answer = await embed(caller.token, { model, input: [{ type: "text", text: "a cat" }, picture] });
    expect(((await answer.json()) as Vectors).data).toHaveLength(1);
    expect(await caller.closed()).toBe((2n + 312n) * 120n);
  });

  test("makes one vector a call: a batch is refused", async () => {
    const { caller } = await newClient(rig);
    const answer = await embed(caller.token, { model, input: texts });
    const refusal = { status: 422, code: "validation_failed", param: "input", message: "Send a call for each." };
    expectRefusal(answer, await answer.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
    expect(await caller.closed()).toBe(0n);
  });
});

describe("refused before anything is sent", () => {
  test.each<[string, object | string, Refusal]>([
    ...["anthropic/claude-haiku-4-5", "xai/grok-4", "deepseek/deepseek-chat"].map(
      (model): [string, object, Refusal] => [
        `${model}: its provider has none`,
        { model, input: fox },
        {
          status: 404,
          code: "unsupported_operation",
          param: "model",
          message: `The provider ${model.split("/")[0]} has no embeddings operation.`,
        },
      ],
    ),
    [
      "a model without a price",
      { model: "openai/unheard-of", input: fox },
      { status: 404, code: "model_unpriced", param: "model" },
    ],
    [
      "no input",
      { model: "local/m" },
      { status: 422, code: "validation_failed", param: "input", message: "input: is missing" },
    ],
    ["an empty list", { model: "local/m", input: [] }, { status: 422, code: "validation_failed", param: "input" }],
    [
      "a stream",
      { model: "local/m", input: fox, stream: true },
      { status: 422, code: "validation_failed", param: "stream" },
    ],
    ["too much", { model: "local/m", input: "x".repeat(300_000) }, { status: 413, code: "body_too_large" }],
  ])("%s", async (_what, body, refusal) => {
    const { caller } = await newClient(rig);
    const answer = await embed(caller.token, body);
    expectRefusal(answer, await answer.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
    expect(await caller.closed()).toBe(0n);
  });

  test("without enough credits, and with enough for its window", async () => {
    // 20 texts of 8,000 bytes may be 8,000 tokens each: the window is that of one, not of all.
    const input = Array.from({ length: 20 }, () => "x".repeat(8_000));
    const token = await rig.gateway.token({ user: "narrow", credits: 20n * 8_000n * 20n });
    const refused = await embed(token, { model: "openai/text-embedding-3-small", input });
    expect(refused.status).toBe(402);
    const richer = await rig.gateway.token({ user: "wide", credits: 20n * 8_008n * 20n });
    expect((await embed(richer, { model: "openai/text-embedding-3-small", input })).status).toBe(200);
  });
});

test("dialects of a configuration leave embeddings alone", async () => {
  const { client } = await newClient(rig);
  const answer = await client.embeddings.create({ model: "chatty/text-embedding-3-small", input: fox });
  expect(answer.data).toHaveLength(1);
});

test("text that looks like one of our signatures is ordinary text", async () => {
  const { caller } = await newClient(rig);
  const text = '{"input": "A tollgate. And a house.", "model": "local/local-embed"}';
  expect((await embed(caller.token, text)).status).toBe(200);
  expect(lastReceived(rig).body).toBe(text.replace("local/", ""));
});

test("a stream instead of a whole answer is not an answer", async () => {
  const { caller } = await newClient(rig);
  const headers = { "content-type": "text/event-stream" };
  scripted.answerWith(() => new Response('data: {"data":[],"usage":{"prompt_tokens":9}}\n\n', { headers }));
  const answer = await embed(caller.token, { model: "odd/model", input: fox });
  const refusal = { status: 502, code: "upstream_invalid_answer", type: "upstream_error" };
  expectRefusal(answer, await answer.text(), refusal);
  expect(await caller.closed()).toBe(0n);
});

test("a call's record contains the operation, no dialect, and the input tokens", async () => {
  const { caller } = await newClient(rig);
  const answer = await embed(caller.token, { model: "openai/text-embedding-3-small", input: fox });
  await answer.arrayBuffer();
  await caller.closed();
  expect(await generationOf(rig, caller, answer)).toMatchObject({
    id: answer.headers.get("x-request-id"),
    model: "openai/text-embedding-3-small",
    operation: "embeddings",
    dialect: null,
    streamed: false,
    status: 200,
    outcome: "complete",
    input_tokens: 5,
    output_tokens: 0,
    credits: 0.0000001,
  });
});

test("the same retry key gets the first answer again, the base64 that was made for it too", async () => {
  const { caller } = await newClient(rig);
  const body = { model: "google/gemini-embedding-001", input: fox, encoding_format: "base64" };
  const first = await embed(caller.token, body, { "idempotency-key": "k" });
  const again = await embed(caller.token, body, { "idempotency-key": "k" });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(sha256(await again.arrayBuffer())).toBe(sha256(await first.arrayBuffer()));
  expect(rig.simulators.total()).toBe(1);
  expect(await caller.closed()).toBe(5n * 150n);
});

test("a token's limits and models hold", async () => {
  const model = "local/local-embed";
  const token = await rig.gateway.token({ user: "limited", rpm: 1, models: ["local/*"] });
  expect((await embed(token, { model: "openai/text-embedding-3-small", input: fox })).status).toBe(404);
  const first = await embed(token, { model, input: fox });
  expect([first.status, first.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "0"]);
  expect((await embed(token, { model, input: fox })).status).toBe(429);
});
