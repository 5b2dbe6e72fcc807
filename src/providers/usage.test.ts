/** The usage that each upstream reports in its own format, read into disjoint buckets. */
import { describe, expect, test } from "bun:test";
import { inputTokens, type JsonObject, outputTokens, type Usage } from "../core/index.ts";
import answers from "./shared/__fixtures__/chat-answers.json" with { type: "json" };
import chunks from "./shared/__fixtures__/stream-chunks.json" with { type: "json" };
import { createProvider, type ProviderChoice } from "./registry.ts";

const baseUrl = "https://upstream.example";

type Upstream = Pick<ProviderChoice, "kind" | "preset">;

function read(upstream: Upstream, answer: JsonObject) {
  const chat = createProvider({ ...upstream, baseUrl }).operations.chat;
  if (chat === undefined) throw new Error(`${upstream.kind} has no chat`);
  return chat.readUsage(answer);
}

/** The buckets that are not zero. */
function filled(usage: Usage | undefined): Usage | undefined {
  return usage && Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0));
}

const compatible = (preset: NonNullable<ProviderChoice["preset"]>): Upstream => ({ kind: "openai-compatible", preset });

interface Row {
  answer: keyof typeof answers;
  upstream: Upstream;
  buckets: Usage;
  /** The price of the call that the upstream reports, in nano-credits. */
  cost?: bigint;
  /** Tokens that its `total_tokens` excludes. */
  outsideTotal?: number;
}

const rows: Row[] = [
  {
    answer: "openai",
    upstream: { kind: "openai" },
    buckets: { input: 86, cacheRead: 1_408, cacheWrite5m: 512, output: 172, reasoning: 128 },
  },
  {
    answer: "openai-audio",
    upstream: { kind: "openai" },
    buckets: { input: 30, inputAudio: 90, output: 18, outputAudio: 62 },
  },
  // Reasoning is excluded from the completion; 12,345,678 ticks of 1e-10 dollars are 1,234,567.8 nano-credits.
  {
    answer: "xai",
    upstream: { kind: "xai" },
    buckets: { input: 26, cacheRead: 6, output: 9, reasoning: 94 },
    cost: 1_234_568n,
  },
  {
    answer: "google-thinking-left-out",
    upstream: { kind: "google" },
    buckets: { input: 11, output: 20, reasoning: 100 },
  },
  {
    answer: "google-thinking-included",
    upstream: { kind: "google" },
    buckets: { input: 11, output: 20, reasoning: 100 },
  },
  { answer: "anthropic", upstream: { kind: "anthropic" }, buckets: { input: 14, output: 5 } },
  {
    answer: "byteplus",
    upstream: { kind: "byteplus" },
    buckets: { input: 116, cacheRead: 512, inputAudio: 12, output: 26, reasoning: 70 },
  },
  {
    answer: "deepseek",
    upstream: compatible("deepseek"),
    buckets: { input: 11, cacheRead: 64, output: 20, reasoning: 30 },
  },
  { answer: "mistral", upstream: compatible("mistral"), buckets: { input: 42, cacheRead: 48, output: 34 } },
  {
    answer: "mistral-details",
    upstream: compatible("mistral"),
    buckets: { input: 22, cacheRead: 48, inputAudio: 20, output: 34 },
  },
  { answer: "groq", upstream: compatible("groq"), buckets: { input: 46, cacheRead: 32, output: 12, reasoning: 21 } },
  {
    answer: "moonshot",
    upstream: compatible("moonshot"),
    buckets: { input: 9, cacheRead: 10, output: 6, reasoning: 15 },
  },
  {
    answer: "perplexity",
    upstream: compatible("perplexity"),
    buckets: { input: 26, output: 832, reasoning: 120 },
    cost: 13_068_000n,
    outsideTotal: 120,
  },
];

describe.each(rows.map((row) => [row.answer, row] as const))("the answer of %s", (_name, row) => {
  const answer: JsonObject = answers[row.answer];
  const observed = read(row.upstream, answer);

  test("is read into its buckets", () => {
    expect(filled(observed?.usage)).toEqual({ ...row.buckets, requests: 1 });
  });

  test("counts each token once: the buckets add up to the reported totals", () => {
    const { usage } = answers[row.answer];
    const total = inputTokens(observed?.usage ?? {}) + outputTokens(observed?.usage ?? {});
    expect(inputTokens(observed?.usage ?? {})).toBe(usage.prompt_tokens);
    expect(total).toBe(usage.total_tokens + (row.outsideTotal ?? 0));
  });

  test("contains the real price only if the upstream reports it", () => {
    expect(observed?.reportedCost).toBe(row.cost);
  });

  test("is a success", () => {
    const provider = createProvider({ ...row.upstream, baseUrl });
    expect(provider.operations.chat?.isFailure(answer)).toBe(false);
  });
});

describe("the usage of a stream", () => {
  const events: [keyof typeof chunks, Upstream, boolean][] = [
    ["openai-before-the-last", { kind: "openai" }, false],
    ["openai-usage", { kind: "openai" }, true],
    ["openai-usage", { kind: "google" }, true],
    ["openai-usage", { kind: "xai" }, true],
    ["openai-usage", { kind: "anthropic" }, true],
    ["openai-usage", { kind: "byteplus" }, true],
    ["openai-usage", compatible("groq"), true],
    ["groq-first", compatible("groq"), false],
    ["groq-last", compatible("groq"), true],
    ["moonshot-last", compatible("moonshot"), true],
    ["mistral-last", compatible("mistral"), true],
  ];
  test.each(events)("%s of %p: %p", (chunk, upstream, isPresent) => {
    const observed = read(upstream, chunks[chunk]);
    expect(filled(observed?.usage)).toEqual(isPresent ? { input: 7, output: 11, requests: 1 } : undefined);
  });
});
