/** The usage that upstreams report in Messages and in Responses, read into disjoint buckets (`docs/wire/`). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { inputTokens, type JsonObject, outputTokens, type Usage } from "../core/index.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";

type Kind = Exclude<ProviderChoice["kind"], "openai-compatible">;

function operationOf(kind: Kind, name: "messages" | "responses" | "count_tokens") {
  const operation = createProvider({ kind, baseUrl: "https://upstream.example" }).operations[name];
  if (operation === undefined) throw new Error(`${kind} has no ${name}`);
  return operation;
}

/** The buckets that are not zero. */
function filled(usage: Usage | undefined): Usage | undefined {
  return usage && Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0));
}

test.each<JsonObject>([{}, { input_tokens: 0, output_tokens: 0 }, { input_tokens: "1", output_tokens: -1 }])(
  "a usage of Responses that counts nothing is none: %j",
  (usage) => {
    expect(operationOf("openai", "responses").readUsage({ usage })).toBeUndefined();
  },
);

describe("Messages", () => {
  const operation = operationOf("anthropic", "messages");
  const plain = { input_tokens: 10, output_tokens: 20 };
  const round = (type: string, input_tokens: number, output_tokens: number, more: object = {}) => ({
    type,
    input_tokens,
    output_tokens,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    ...more,
  });

  test("rounds of a compaction are billed beside the figures at the top (recording 1618)", () => {
    const iterations = [round("compaction", 99_195, 81, { cache_read_input_tokens: 7 }), round("message", 162, 11)];
    const observed = operation.readUsage({ usage: { input_tokens: 162, output_tokens: 11, iterations } });
    expect([filled(observed?.usage), observed?.others]).toEqual([
      { input: 99_357, cacheRead: 7, output: 92, requests: 1 },
      undefined,
    ]);
  });

  test("those of an advisor are its own model's (recording 2584)", () => {
    const advisor = round("advisor_message", 2_728, 874, { model: "claude-opus-4-7" });
    const iterations = [round("message", 1_051, 35), advisor, round("message", 1_363, 3_165)];
    const observed = operation.readUsage({ usage: { input_tokens: 2_414, output_tokens: 3_200, iterations } });
    expect(filled(observed?.usage)).toEqual({ input: 5_142, output: 4_074, requests: 1 });
    expect(observed?.others?.map(({ model, usage }) => [model, filled(usage)])).toEqual([
      ["claude-opus-4-7", { input: 2_728, output: 874 }],
    ]);
  });

  test("a round that a model declined costs nothing", () => {
    const iterations = [round("message", 500, 1), round("fallback_message", 10, 20, { model: "claude-opus-4-8" })];
    const observed = operation.readUsage({ usage: { ...plain, iterations } });
    expect(filled(observed?.usage)).toEqual({ input: 10, output: 20, requests: 1 });
  });

  test.each<[string, JsonObject, Usage]>([
    ["plain", plain, { input: 10, output: 20 }],
    [
      "cache reads and writes are excluded from the input",
      { ...plain, cache_creation_input_tokens: 300, cache_read_input_tokens: 4_000 },
      { input: 10, cacheRead: 4_000, cacheWrite5m: 300, output: 20 },
    ],
    [
      "cache writes are separated by lifetime",
      {
        ...plain,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      },
      { input: 10, cacheWrite5m: 100, cacheWrite1h: 200, output: 20 },
    ],
    [
      "only cache writes of an hour",
      {
        ...plain,
        cache_creation_input_tokens: 200,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 200 },
      },
      { input: 10, cacheWrite1h: 200, output: 20 },
    ],
    [
      "reasoning is included in the output",
      { ...plain, output_tokens_details: { thinking_tokens: 5 } },
      { input: 10, output: 15, reasoning: 5 },
    ],
    ["only reasoning", { ...plain, output_tokens_details: { thinking_tokens: 20 } }, { input: 10, reasoning: 20 }],
    [
      "null counts as zero",
      {
        ...plain,
        cache_creation: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens_details: null,
        server_tool_use: null,
      },
      { input: 10, output: 20 },
    ],
    [
      "everything",
      {
        input_tokens: 1,
        cache_creation_input_tokens: 6,
        cache_read_input_tokens: 8,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 },
        output_tokens: 48,
        output_tokens_details: { thinking_tokens: 16 },
        server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
        service_tier: "standard",
      },
      { input: 1, cacheWrite5m: 2, cacheWrite1h: 4, cacheRead: 8, reasoning: 16, output: 32 },
    ],
  ])("%s", (_name, usage, buckets) => {
    const observed = operation.readUsage({ type: "message", usage });
    expect(filled(observed?.usage)).toEqual({ ...buckets, requests: 1 });
    expect(observed?.reportedCost).toBeUndefined();
    // Each token is counted once, in the whole prompt and the whole output.
    const inputCounts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(
      (name) => usage[name],
    );
    expect(inputTokens(observed?.usage ?? {})).toBe(
      inputCounts.reduce<number>((sum, count) => sum + Number(count ?? 0), 0),
    );
    expect(outputTokens(observed?.usage ?? {})).toBe(Number(usage["output_tokens"]));
  });

  test.each<[JsonObject]>([[{}], [{ usage: null }], [{ usage: {} }], [{ usage: [] }]])("no usage in %p", (answer) => {
    expect(operation.readUsage(answer)).toBeUndefined();
  });

  test("a side without a count is named, the other one counts", () => {
    const observed = operation.readUsage({ usage: { input_tokens: 5 } });
    expect(observed).toMatchObject({ usage: { input: 5 }, uncounted: ["output"] });
  });

  test("an error with a success status is a failure", () => {
    for (const name of ["messages", "count_tokens"] as const) {
      const counted = operationOf("anthropic", name);
      expect(counted.isFailure({ type: "error", error: { type: "api_error", message: "x" } })).toBe(true);
      expect(counted.isFailure({ type: "message", content: [] })).toBe(false);
      expect(counted.isFailure({ input_tokens: 5 })).toBe(false);
    }
  });

  test("counting tokens has no usage", () => {
    expect(operationOf("anthropic", "count_tokens").readUsage({ input_tokens: 5 })).toBeUndefined();
  });
});

describe("Responses", () => {
  const counts = (input: number, output: number, more: JsonObject = {}): JsonObject => ({
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    ...more,
  });

  const rows: [string, Kind, JsonObject, Usage, bigint?][] = [
    ["plain", "openai", counts(36, 87), { input: 36, output: 87 }],
    ["plain", "xai", counts(36, 87), { input: 36, output: 87 }],
    ["plain", "byteplus", counts(36, 87), { input: 36, output: 87 }],
    [
      "cache reads and writes are included in the input, reasoning in the output",
      "openai",
      counts(2_006, 300, {
        input_tokens_details: { cached_tokens: 1_408, cache_write_tokens: 512 },
        output_tokens_details: { reasoning_tokens: 128 },
      }),
      { input: 86, cacheRead: 1_408, cacheWrite5m: 512, output: 172, reasoning: 128 },
    ],
    [
      "the same",
      "byteplus",
      counts(628, 96, {
        input_tokens_details: { cached_tokens: 512 },
        output_tokens_details: { reasoning_tokens: 70 },
        tool_usage: { web_search: 0 },
      }),
      { input: 116, cacheRead: 512, output: 26, reasoning: 70 },
    ],
    [
      "reasoning is excluded from the output but included in the total; the price is reported",
      "xai",
      {
        input_tokens: 32,
        output_tokens: 9,
        total_tokens: 151,
        input_tokens_details: { cached_tokens: 6 },
        output_tokens_details: { reasoning_tokens: 110 },
        num_sources_used: 0,
        cost_in_usd_ticks: 12_345_678,
      },
      { input: 26, cacheRead: 6, output: 9, reasoning: 110 },
      1_234_568n,
    ],
    [
      "reasoning is included in the output there as well",
      "xai",
      counts(32, 119, { output_tokens_details: { reasoning_tokens: 110 } }),
      { input: 32, output: 9, reasoning: 110 },
    ],
    [
      "cache reads that exceed the input are excluded from it",
      "xai",
      counts(10, 5, { input_tokens_details: { cached_tokens: 100 } }),
      { input: 10, cacheRead: 100, output: 5 },
    ],
  ];

  test.each(rows.map(([name, kind, ...row]) => [name, kind, row] as const))("%s: %s", (_name, kind, row) => {
    const [usage, buckets, cost] = row;
    const operation = operationOf(kind, "responses");
    const response = { object: "response", status: "completed", error: null, output: [], usage };
    // A whole answer, and the last event of a stream.
    for (const answer of [response, { type: "response.completed", response }]) {
      const observed = operation.readUsage(answer);
      expect(filled(observed?.usage)).toEqual({ ...buckets, requests: 1 });
      expect(observed?.reportedCost).toBe(cost);
    }
    expect(operation.isFailure(response)).toBe(false);
  });

  test.each<[JsonObject]>([[{}], [{ usage: null }], [{ response: null }], [{ response: { usage: null } }]])(
    "no usage in %p",
    (answer) => {
      for (const kind of ["openai", "xai", "byteplus"] as const)
        expect(operationOf(kind, "responses").readUsage(answer)).toBeUndefined();
    },
  );

  test("a failed generation is a failure, whatever its status; an incomplete one is an answer", () => {
    for (const kind of ["openai", "xai", "byteplus"] as const) {
      const operation = operationOf(kind, "responses");
      expect(operation.isFailure({ status: "failed", error: { code: "server_error" }, output: [] })).toBe(true);
      expect(operation.isFailure({ error: { message: "x" } })).toBe(true);
      expect(operation.isFailure({ code: "Some resource has been exhausted", error: "text" })).toBe(true);
      expect(operation.isFailure({ status: "incomplete", error: null, output: [] })).toBe(false);
    }
  });

  test("the providers that store answers are declared", () => {
    const stored = (["openai", "xai", "byteplus"] as const).map((kind) => operationOf(kind, "responses").storesAnswers);
    expect(stored).toEqual([true, true, true]);
  });
});

test("no count, however odd, becomes a usage that is negative, infinite or fractional", () => {
  const count = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.constantFrom<unknown>(2 ** 60, "12", null, true, [], {}, undefined),
  );
  const details = fc.record({ cached_tokens: count, cache_write_tokens: count, reasoning_tokens: count });
  const usage = fc.record(
    {
      input_tokens: count,
      output_tokens: count,
      total_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
      cache_creation: fc.record({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
      input_tokens_details: details,
      output_tokens_details: fc.record({ reasoning_tokens: count, thinking_tokens: count }),
      cost_in_usd_ticks: count,
    },
    { requiredKeys: [] },
  );
  const operations = [
    operationOf("anthropic", "messages"),
    ...(["openai", "xai", "byteplus"] as const).map((kind) => operationOf(kind, "responses")),
  ];
  fc.assert(
    fc.property(usage, (sample) => {
      for (const operation of operations) {
        const observed = operation.readUsage({ usage: sample });
        const odd = Object.values(observed?.usage ?? {}).filter(
          (value) => !Number.isSafeInteger(value) || value < 0 || value > 3e12,
        );
        expect(odd).toEqual([]);
        expect(observed?.reportedCost ?? 0n).toBeGreaterThanOrEqual(0n);
      }
    }),
    { numRuns: 500 },
  );
});

describe("tokens of images and sound, which no provider counts in these dialects and compatible upstreams may", () => {
  const counts = { input_tokens: 90, output_tokens: 11 };
  test.each([
    [
      { image_tokens: 6, audio_tokens: 2, reasoning_tokens: 1 },
      { output: 2, outputImage: 6, outputAudio: 2, reasoning: 1 },
    ],
    [
      { image_tokens: 50, reasoning_tokens: 4 },
      { output: 0, outputImage: 7, reasoning: 4 },
    ],
    [
      { audio_tokens: 50, image_tokens: 50 },
      { output: 0, outputAudio: 11, reasoning: 0 },
    ],
    [
      { image_tokens: -1, audio_tokens: "6" },
      { output: 11, reasoning: 0 },
    ],
  ])("%j are in Responses at most the output", (output_tokens_details, expected) => {
    const usage = { ...counts, input_tokens_details: { image_tokens: 100, cached_tokens: 20 }, output_tokens_details };
    const read = operationOf("openai", "responses").readUsage({ usage })?.usage;
    expect(read).toEqual({ input: 0, inputImage: 70, cacheRead: 20, cacheWrite5m: 0, requests: 1, ...expected });
  });

  test("and in Messages", () => {
    const usage = { ...counts, output_tokens_details: { image_tokens: 50, thinking_tokens: 4 } };
    expect(operationOf("anthropic", "messages").readUsage({ usage })?.usage).toMatchObject({
      output: 0,
      outputImage: 7,
      reasoning: 4,
    });
  });
});
