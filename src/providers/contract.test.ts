/** Requirements that every provider must meet, whatever its kind or preset. */
import { findProvider } from "@pydantic/genai-prices";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject, Usage } from "../core/index.ts";
import { edited } from "./shared/__fixtures__/edited.ts";
import answers from "./shared/__fixtures__/chat-answers.json" with { type: "json" };
import type { Provider, UpstreamOperation } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";
import { matchesPattern, readFault } from "./shared/failures.ts";

/** Kinds that generate no text. */
type Textless = "cohere" | "jina" | "voyage";

/** Whether each kind and preset accepts `stream_options`; the types require all of them to be listed. */
const kinds: Record<Exclude<ProviderChoice["kind"], "openai-compatible" | Textless>, boolean> = {
  openai: true,
  google: true,
  xai: true,
  anthropic: true,
  byteplus: true,
};
const presets: Record<NonNullable<ProviderChoice["preset"]>, boolean> = {
  generic: true,
  deepseek: true,
  mistral: false,
  groq: true,
  moonshot: true,
  perplexity: false,
  openrouter: true,
  ollama: true,
  vllm: true,
};

interface Case {
  name: string;
  provider: Provider;
  streamOptions: boolean;
}

const baseUrl = "https://upstream.example/v1";
const cases: Case[] = [
  ...Object.entries(kinds).map(([name, streamOptions]) => {
    const provider = createProvider({ kind: name as ProviderChoice["kind"], baseUrl });
    return { name, provider, streamOptions };
  }),
  ...Object.entries(presets).map(([name, streamOptions]) => {
    const preset = name as NonNullable<ProviderChoice["preset"]>;
    return {
      name: `openai-compatible ${name}`,
      provider: createProvider({ kind: "openai-compatible", preset, baseUrl }),
      streamOptions,
    };
  }),
];

function chatOf(provider: Provider): UpstreamOperation {
  const { chat } = provider.operations;
  if (chat === undefined) throw new Error("no chat");
  return chat;
}

/** The body that is sent to the upstream. */
function sent(operation: UpstreamOperation, body: JsonObject): unknown {
  return JSON.parse(edited(JSON.stringify(body), operation.edits(body, "m")));
}

const plainBody = { model: "m", messages: [{ role: "user", content: "hi" }], temperature: 0.5, max_tokens: 9 };

/** Values that no real upstream sends as a count. */
const garbage = fc.oneof(
  fc.constantFrom(
    -1,
    -1e9,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e300,
    1e21,
    2 ** 60,
    0.5,
    1e-9,
  ),
  fc.constantFrom<unknown>("12", "", "NaN", true, false, null, undefined, [], [5], {}, { tokens: 5 }),
);

/** Copies of a value in which any part may be replaced with garbage. */
function spoil(value: unknown): fc.Arbitrary<unknown> {
  if (value === null || typeof value !== "object")
    return fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: garbage });
  const parts = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, spoil(part)]));
  return fc.oneof({ weight: 9, arbitrary: fc.record(parts, { requiredKeys: [] }) }, { weight: 1, arbitrary: garbage });
}

function expectHonest(usage: Usage): void {
  for (const [bucket, count] of Object.entries(usage)) {
    expect({ bucket, whole: Number.isSafeInteger(count), charged: count >= 0 && count <= 1e12 }).toEqual({
      bucket,
      whole: true,
      charged: true,
    });
  }
}

describe.each(cases.map((each) => [each.name, each] as const))(
  "the provider %s",
  (_name, { provider, streamOptions }) => {
    const chat = chatOf(provider);

    test("sends its key in headers, one of them with a bearer token", () => {
      const headers = provider.headers("sk-secret", chat.path);
      expect(headers["authorization"]).toBe("Bearer sk-secret");
      expect(Object.keys(headers)).toEqual(Object.keys(headers).map((name) => name.toLowerCase()));
    });

    test("is in the price lists under its `priceProvider`", () => {
      const { priceProvider } = provider;
      // BytePlus is not in genai-prices: its prices are our own, under the same name.
      if (priceProvider === undefined || priceProvider === "byteplus") return;
      expect(findProvider({ providerId: priceProvider })?.id).toBe(priceProvider);
    });

    test("has a path to append to a base URL", () => {
      expect(chat.path).toMatch(/^\/[a-z0-9/]*chat\/completions$/);
    });

    test("does not edit a plain body", () => {
      expect(chat.edits(plainBody, "m")).toEqual([]);
    });

    test("requests the usage of a stream only if the upstream requires that", () => {
      const options = (body: JsonObject) => (sent(chat, body) as Record<string, unknown>)["stream_options"];
      const requested = streamOptions ? { include_usage: true } : undefined;
      expect(options({ ...plainBody, stream: true })).toEqual(requested);
      expect(options({ ...plainBody, stream: true, stream_options: null })).toEqual(requested);
      expect(options({ ...plainBody, stream: true, stream_options: { include_usage: false } })).toEqual(requested);
      expect(options({ ...plainBody, stream: true, stream_options: { include_usage: true } })).toEqual(requested);
      expect(options({ ...plainBody, stream: false })).toBeUndefined();
      expect(options(plainBody)).toBeUndefined();
    });

    test("retains the client's other stream options", () => {
      const body = { ...plainBody, stream: true, stream_options: { include_obfuscation: false, later_option: [1] } };
      const expected = { ...body, stream_options: { ...body.stream_options, include_usage: true } };
      expect(sent(chat, body)).toEqual(streamOptions ? expected : { ...plainBody, stream: true });
    });

    test("passes unknown fields through", () => {
      const body = { ...plainBody, field_of_tomorrow: { deep: [1, "two"] }, tools: [] };
      expect(sent(chat, body)).toEqual(body);
    });

    test.each([
      [{}],
      [{ usage: null }],
      [{ usage: "12" }],
      [{ usage: [1] }],
      [{ choices: "none", x_groq: 7 }],
      [{ choices: [null] }],
    ])("reads no usage from %p", (answer: JsonObject) => {
      expect(chat.readUsage(answer)).toBeUndefined();
    });

    test.each<object>([
      {},
      { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      { prompt_tokens: "10", completion_tokens: "20" },
      { prompt_tokens: -10, completion_tokens: -20 },
      { tokens: 10 },
    ])("takes a usage that counts nothing for none, so that the call is estimated: %j", (usage) => {
      expect(chat.readUsage({ usage })).toBeUndefined();
    });

    test("neither throws for garbage in the usage nor charges it", () => {
      const sample = fc.constantFrom(...Object.values(answers)).chain(spoil);
      const property = fc.property(sample, (answer) => {
        const observed = chat.readUsage((answer ?? {}) as JsonObject);
        if (observed === undefined) return;
        expectHonest(observed.usage);
        expect(observed.reportedCost ?? 0n).toBeGreaterThanOrEqual(0n);
        // A million dollars.
        expect(observed.reportedCost ?? 0n).toBeLessThanOrEqual(10n ** 15n);
      });
      fc.assert(property, { numRuns: 200 });
    });

    test("distinguishes a failure with a success status from an answer", () => {
      expect(chat.isFailure({ error: { message: "overloaded", type: "server_error" } })).toBe(true);
      expect(chat.isFailure({ code: "Some resource has been exhausted", error: "text" })).toBe(true);
      expect(chat.isFailure({ error: null, choices: [] })).toBe(false);
      expect(chat.isFailure({ choices: [{ index: 0 }] })).toBe(false);
    });

    test("does not mistake an ordinary error for a refused key or an exhausted quota", () => {
      const ordinary = [
        '{"error":{"message":"Rate limit reached for requests","type":"requests","param":null,"code":"rate_limit_exceeded"}}',
        '{"error":{"message":"Unknown parameter: \'foo\'.","type":"invalid_request_error","param":"foo","code":"unknown_parameter"}}',
        '{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}',
        "<html>502 Bad Gateway</html>",
        "",
      ];
      const { keyRefused, quotaGone, retryable } = provider.failures;
      for (const body of ordinary) {
        const fault = readFault(body);
        for (const status of [400, 401, 402, 403, 429, 498, 500, 503]) {
          expect(matchesPattern([...keyRefused, ...quotaGone, ...retryable], status, fault)).toBe(false);
        }
        expect(fault.retryDelayMs).toBeUndefined();
      }
    });

    test("has patterns without state, which give the same result twice", () => {
      const { keyRefused, quotaGone, retryable } = provider.failures;
      for (const { codes, message } of [...keyRefused, ...quotaGone, ...retryable]) {
        expect(`${codes?.flags ?? ""}${message?.flags ?? ""}`).not.toMatch(/[gy]/);
      }
    });

    test("matches messages only from their start, because callers' text may follow", () => {
      const { keyRefused, quotaGone, retryable } = provider.failures;
      const messages = [...keyRefused, ...quotaGone, ...retryable].flatMap(({ message }) => message ?? []);
      expect(messages.filter(({ source }) => !source.startsWith("^"))).toEqual([]);
    });
  },
);

/** The other operations with a dialect: their bodies and answers are unchanged, and each has a path and a dialect. */
const others = cases.flatMap(({ name, provider }) =>
  (["messages", "responses", "count_tokens"] as const).flatMap((operation) => {
    const found = provider.operations[operation];
    return found === undefined ? [] : [[operation, name, found] as const];
  }),
);

test("the providers with dialects other than chat are known", () => {
  expect(others.map(([operation, name]) => `${name}: ${operation}`)).toEqual([
    "openai: responses",
    "xai: responses",
    "anthropic: messages",
    "anthropic: count_tokens",
    "byteplus: responses",
    "openai-compatible deepseek: responses",
    "openai-compatible openrouter: responses",
  ]);
});

test.each(others)("%s of %s are passed through", (name, _provider, operation) => {
  expect(operation.dialect).toBe(name === "count_tokens" ? "messages" : name);
  expect(operation.path).toMatch(/^\/[a-z0-9_/]+$/);
  for (const stream of [true, false])
    expect(operation.edits({ ...plainBody, stream, of_tomorrow: [1] }, "m")).toEqual([]);
});

const listings = cases.flatMap(({ name, provider: { models } }) =>
  models.from === "upstream" ? [[name, models] as const] : [],
);
const catalogs = cases.flatMap(({ name, provider: { models } }) =>
  models.from === "catalog" ? [[name, models] as const] : [],
);

test("the providers without a listing are known", () => {
  expect(catalogs.map(([name]) => name)).toEqual(["byteplus", "openai-compatible perplexity"]);
});

test.each(catalogs)("the catalog of %s contains each model once", (_name, { models }) => {
  expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
  expect(models.filter(({ id }) => !/^[a-z0-9][a-z0-9.-]*$/.test(id))).toEqual([]);
});

describe.each(listings)("the listing of %s", (_name, models) => {
  test("has a path to append to a base URL", () => {
    expect(models.path(undefined)).toMatch(/^\/[a-z0-9/]+(\?[a-zA-Z]+=\d+)?$/);
  });

  test("ignores invalid rows and bodies", () => {
    const rows = [
      null,
      1,
      "x",
      [],
      {},
      { id: 5 },
      { name: 5 },
      { id: null },
      { id: "" },
      { name: "" },
      { name: "models/" },
    ];
    const bodies = [
      {},
      { data: rows },
      { models: rows },
      { data: "x" },
      { models: {} },
      { has_more: true },
      { has_more: true, last_id: 5 },
    ];
    for (const body of bodies) expect(models.parse(body)).toEqual({ models: [], next: undefined });
  });
});
