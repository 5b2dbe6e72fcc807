/** Embeddings of each upstream: the operations, the edits of a call, the usage, and the reshaped calls. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError, type JsonObject, type Usage } from "../core/index.ts";
import { edited } from "./shared/__fixtures__/edited.ts";
import type { UpstreamOperation } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";

type Upstream = Pick<ProviderChoice, "kind" | "preset">;

const compatible = (preset: NonNullable<ProviderChoice["preset"]>): Upstream => ({ kind: "openai-compatible", preset });
const openai: Upstream = { kind: "openai" };
const google: Upstream = { kind: "google" };
const byteplus: Upstream = { kind: "byteplus" };
const mistral = compatible("mistral");

function operationOf(upstream: Upstream): UpstreamOperation | undefined {
  return createProvider({ ...upstream, baseUrl: "https://upstream.example" }).operations.embeddings;
}

function embeddingsOf(upstream: Upstream): UpstreamOperation {
  const operation = operationOf(upstream);
  if (operation === undefined) throw new Error(`${upstream.kind} has no embeddings`);
  return operation;
}

test.each<[Upstream, string | undefined]>([
  [openai, "/embeddings"],
  [google, "/v1beta/openai/embeddings"],
  [byteplus, "/embeddings"],
  [mistral, "/embeddings"],
  [compatible("generic"), "/embeddings"],
  [compatible("ollama"), "/embeddings"],
  [compatible("vllm"), "/embeddings"],
  [compatible("perplexity"), "/v1/embeddings"],
  [compatible("deepseek"), undefined],
  [compatible("groq"), undefined],
  [compatible("moonshot"), undefined],
  [{ kind: "anthropic" }, undefined],
  [{ kind: "xai" }, undefined],
])("the path of %j is %p", (upstream, path) => {
  expect(operationOf(upstream)?.path).toBe(path as string);
});

describe("edits", () => {
  const requested = `{"model":"m","input":"x","dimensions":256,"encoding_format":"base64","user":"u"}`;
  test.each<[string, Upstream, string, string]>([
    ["openai: none", openai, requested, requested],
    [
      "mistral: dimensions are renamed, the user is dropped",
      mistral,
      requested,
      `{"model":"m","input":"x","output_dimension":256,"encoding_format":"base64"}`,
    ],
    [
      "mistral: its own names and types are passed through",
      mistral,
      `{"model":"m","output_dimension":8,"output_dtype":"int8"}`,
      `{"model":"m","output_dimension":8,"output_dtype":"int8"}`,
    ],
    [
      "google: floats are requested, the user is dropped",
      google,
      requested,
      `{"model":"m","input":"x","dimensions":256,"encoding_format":"float"}`,
    ],
    ["google: a request for floats is unchanged", google, `{"input":"x"}`, `{"input":"x"}`],
    ["byteplus: none", byteplus, requested, requested],
  ])("%s", (_title, upstream, text, expected) => {
    const edits = embeddingsOf(upstream).edits(JSON.parse(text) as JsonObject, "m");
    expect(edited(text, edits)).toBe(expected);
  });
});

describe("usage", () => {
  const picture = { text_tokens: 2, image_tokens: 312 };
  test.each<[string, Upstream, JsonObject, Usage | undefined]>([
    ["consists of the input", openai, { prompt_tokens: 7, total_tokens: 7 }, { input: 7 }],
    ["counts no output", mistral, { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 }, { input: 7 }],
    ["may be only a total", compatible("generic"), { total_tokens: 9 }, { input: 9 }],
    [
      "separates image tokens",
      byteplus,
      { prompt_tokens: 314, prompt_tokens_details: picture },
      { input: 2, inputImage: 312 },
    ],
    ["of zero is absent", google, { prompt_tokens: 0, total_tokens: 0 }, undefined],
    ["of garbage is absent", google, { prompt_tokens: "7", total_tokens: -1 }, undefined],
  ])("%s", (_title, upstream, usage, expected) => {
    const observed = embeddingsOf(upstream).readUsage({ usage })?.usage;
    expect(observed).toEqual(expected === undefined ? undefined : { inputImage: 0, ...expected, requests: 1 });
  });

  test("is absent at google", () => {
    expect(embeddingsOf(google).readUsage({ object: "list", data: [] })).toBeUndefined();
  });

  test("contains the real price at perplexity", () => {
    const usage = { prompt_tokens: 5, total_tokens: 5, cost: { total_cost: 0.000_000_02 } };
    expect(embeddingsOf(compatible("perplexity")).readUsage({ usage })?.reportedCost).toBe(20n);
  });
});

test("an error with a success status is a failure, vectors are not", () => {
  const operation = embeddingsOf(openai);
  expect(operation.isFailure({ error: { message: "overloaded" } })).toBe(true);
  expect(operation.isFailure({ object: "error", message: "overloaded", code: "1300" })).toBe(true);
  expect(operation.isFailure({ error: null, data: [] })).toBe(false);
  expect(operation.isFailure({ data: [] })).toBe(false);
});

describe("google", () => {
  const reshape = async (body: JsonObject) =>
    await embeddingsOf(google).toUpstream?.({ body, files: [] }, "gemini-embedding-001");
  const inBase64 = async (data: unknown) => {
    const answer = (await reshape({ encoding_format: "base64" }))?.answer?.([{ object: "list", data }], 0);
    return answer as JsonObject | undefined;
  };

  test("does not convert the answer unless base64 is requested", async () => {
    expect(await reshape({ encoding_format: "float" })).toBeUndefined();
    expect(await reshape({})).toBeUndefined();
  });

  test("receives the client's body", async () => {
    expect((await reshape({ encoding_format: "base64" }))?.requests).toEqual([{}]);
  });

  test("1, -2 and 0.5 are 0000803f, 000000c0 and 0000003f", async () => {
    const [plain, base64] = [[1, -2, 0.5], Buffer.from("0000803f000000c00000003f", "hex").toString("base64")];
    expect(await inBase64([{ object: "embedding", index: 3, embedding: plain }])).toEqual({
      object: "list",
      data: [{ object: "embedding", index: 3, embedding: base64 }],
    });
  });

  test("any floats are encoded without loss", async () => {
    const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 64 });
    await fc.assert(
      fc.asyncProperty(floats, async (vector) => {
        const rows = (await inBase64([{ embedding: vector }]))?.["data"] as { embedding: string }[] | undefined;
        const bytes = Buffer.from(rows?.[0]?.embedding ?? "", "base64");
        const read = vector.map((_, index) => bytes.readFloatLE(index * 4));
        expect(bytes).toHaveLength(vector.length * 4);
        expect(read).toEqual(vector);
      }),
    );
  });

  test("other values than lists of numbers are unchanged", async () => {
    const odd = [{ embedding: "AAAA" }, { embedding: [1, "2"] }, { embedding: null }, {}, 7, null];
    const expected = [{ embedding: "AAAA" }, { embedding: [1, "2"] }, { embedding: null }, { embedding: undefined }, 7];
    expect((await inBase64(odd))?.["data"] as unknown[]).toEqual([...expected, null]);
    expect(await inBase64("none")).toEqual({ object: "list", data: "none" });
  });
});

describe("byteplus", () => {
  const vision = "skylark-embedding-vision-250615";
  const reshape = async (input: unknown, model = vision) =>
    await embeddingsOf(byteplus).toUpstream?.(
      { body: { model: "byteplus/x", input, dimensions: 1024 }, files: [] },
      model,
    );
  const text = { type: "text", text: "a cat" };
  const picture = { type: "image_url", image_url: { url: "https://pictures.example/cat.png" } };

  test("texts are passed through to a text model", async () => {
    for (const input of ["x", ["x", "y"], [1, 2], [[1]]]) {
      expect(await reshape(input, "text-embedding")).toBeUndefined();
    }
  });

  test.each<[unknown, string, object[]]>([
    ["a cat", vision, [text]],
    [["a cat"], vision, [text]],
    [[text, picture], vision, [text, picture]],
    [[picture], "ep-20260101-abcde", [picture]],
  ])("%j to %s is sent as parts to the separate path", async (input, model, parts) => {
    const [request] = (await reshape(input, model))?.requests ?? [];
    expect(request?.subpath).toBe("/multimodal");
    expect(request?.json).toMatchObject({ input: parts, dimensions: 1024 });
  });

  test.each<[unknown, string]>([
    [["a cat", "a dog"], "one vector per call"],
    [["a cat", picture], "one vector per call"],
    [[picture, "a cat"], "a text, or a list of parts"],
    [[1, 2], "no token ids"],
    [[[1, 2]], "no token ids"],
  ])("%j is refused: %s", async (input, message) => {
    const refused = await reshape(input).catch((reason: unknown) => reason);
    expect(refused).toBeInstanceOf(GatewayError);
    expect(String(refused)).toContain(message);
  });

  test("the single vector becomes a list", async () => {
    const data = { object: "embedding", embedding: [1] };
    const answer = { id: "1", object: "list", usage: { prompt_tokens: 2 } };
    const shown = async (body: JsonObject) => (await reshape("x"))?.answer?.([body], 0);
    expect(await shown({ ...answer, data })).toEqual({ ...answer, data: [{ ...data, index: 0 }] });
    expect(await shown({ ...answer, data: [data] })).toEqual({ ...answer, data: [data] });
  });
});
