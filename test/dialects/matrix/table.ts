/**
 * The declared matrix of scenarios, clients' dialects and providers: the test runs it and `docs/dialects.md` shows it,
 * so the two cannot differ. A cell without an exception fulfils its scenario completely.
 */
import type { Dialect } from "../../../src/core/index.ts";

export const clients = ["chat", "messages", "responses", "gemini"] as const satisfies readonly Dialect[];

/** The request, and the required result. */
export const scenarios = {
  plain: "A text is answered.",
  streamed: "The same as a stream: the same text, the exact usage at its end.",
  tools: "A call, its result sent back, the final text.",
  "parallel tools": "Two calls in one streamed answer, both results sent back.",
  image: "An image in base64 is understood.",
  reasoning: "Thinking before a call; thoughts and signatures travel back with its result.",
  "reasoning, streamed": "The same as streams.",
  error: "An error keeps its status and becomes the SDK's class; it is free.",
  "error mid-stream": "The SDK throws after the previous events.",
  truncated: "A stream or an answer that breaks off is an error, never a short success.",
  "structured output": "JSON that fits a schema.",
  "stop sequence": "The text is cut before it.",
  "max tokens": "The text is cut at the limit, with the matching stop reason.",
} as const;

export type Scenario = keyof typeof scenarios;

export interface Upstream {
  /** As the documentation calls it. */
  title: string;
  /** With the prefix under which the test's gateway has it. */
  model: string;
  /** For scenarios with another model. */
  models?: Partial<Record<Scenario, string>>;
  /** The dialect in which it is asked, by the client's. */
  speaks: Readonly<Record<Dialect, Dialect>>;
  /** The dialect of scenarios that its usual endpoint ignores. */
  heeds?: Partial<Record<Scenario, Dialect>>;
  /** The clients' dialects that it has too, and whose bytes do not pass nevertheless. */
  rewrites?: readonly Dialect[];
}

/** The dialect in which a scenario of a client is asked. */
export function spoken({ heeds, speaks }: Upstream, client: Dialect, scenario: Scenario): Dialect {
  return heeds?.[scenario] ?? speaks[client];
}

const chatOnly = { chat: "chat", messages: "chat", responses: "chat", gemini: "chat" } as const;
const withResponses = { ...chatOnly, responses: "responses" } as const;

const reasoningModel = (model: string) => ({ reasoning: model, "reasoning, streamed": model });

/** Seven kinds, and the same provider once more with a dialect less. */
export const upstreams: readonly Upstream[] = [
  { title: "openai", model: "openai/gpt-4o-mini", models: reasoningModel("openai/gpt-5-mini"), speaks: withResponses },
  {
    title: "google",
    model: "google/gemini-2.5-flash",
    // It demands the signatures of its calls.
    models: reasoningModel("google/gemini-3-flash-preview"),
    speaks: { ...chatOnly, gemini: "gemini" },
  },
  {
    title: "google, `dialects: [gemini]`",
    model: "own/gemini-2.5-flash",
    models: reasoningModel("own/gemini-3-flash-preview"),
    speaks: { chat: "gemini", messages: "gemini", responses: "gemini", gemini: "gemini" },
  },
  { title: "xai", model: "xai/grok-3", models: reasoningModel("xai/grok-4.3"), speaks: withResponses },
  {
    title: "deepseek",
    model: "deepseek/deepseek-chat",
    models: { image: "deepseek/deepseek-v4-flash-vision-exp" },
    speaks: withResponses,
    heeds: { "structured output": "chat" },
    rewrites: ["responses"],
  },
  { title: "mistral", model: "mistral/mistral-small-latest", speaks: chatOnly },
  {
    title: "anthropic",
    model: "anthropic/claude-haiku-4-5",
    speaks: { ...chatOnly, messages: "messages", gemini: "messages" },
    heeds: { reasoning: "messages", "reasoning, streamed": "messages", "structured output": "messages" },
  },
  {
    title: "anthropic, `dialects: [messages]`",
    model: "native/claude-haiku-4-5",
    speaks: { chat: "messages", messages: "messages", responses: "messages", gemini: "messages" },
  },
  {
    title: "openai, `dialects: [responses]`",
    model: "stored/gpt-4o-mini",
    models: reasoningModel("stored/gpt-5-mini"),
    speaks: { chat: "responses", messages: "responses", responses: "responses", gemini: "responses" },
  },
  { title: "byteplus", model: "byteplus/seed-1-6-250915", speaks: withResponses },
];

/** The reduced result of a cell. */
export type Instead =
  /** Thinking is counted but not visible. */
  | "thoughts hidden"
  /** The provider takes the wish and does nothing with it. */
  | "ignored"
  /** The provider refuses it with this status, which the client gets. */
  | 400
  /** The client's dialect cannot express it. */
  | "not in the dialect"
  /** The provider's dialect cannot express it: 422. */
  | "refused"
  /** Calls end with the stop reason of a text, as the provider has it. */
  | "stop"
  /** The SDK overlooks the provider's error event: ours follows it. */
  | "two errors";

export interface Exception {
  scenarios: readonly Scenario[];
  clients?: readonly Dialect[];
  /** Titles. */
  upstreams?: readonly string[];
  /** Only if the upstream is called in this dialect. */
  speaking?: Dialect;
  instead: Instead;
  why: string;
}

const thinking: readonly Scenario[] = ["reasoning", "reasoning, streamed"];

export const exceptions: readonly Exception[] = [
  {
    scenarios: ["stop sequence"],
    clients: ["responses"],
    instead: "not in the dialect",
    why: "Responses has no stop sequences.",
  },
  {
    scenarios: ["stop sequence"],
    clients: ["chat", "messages", "gemini"],
    speaking: "responses",
    instead: "refused",
    why: "A provider that is called in Responses cannot be given stop sequences: 422.",
  },
  {
    scenarios: thinking,
    upstreams: ["openai"],
    speaking: "chat",
    instead: "thoughts hidden",
    why: "In chat OpenAI counts its thoughts without showing them; `dialects: [responses]` has summaries.",
  },
  {
    scenarios: thinking,
    clients: ["chat"],
    upstreams: ["google", "google, `dialects: [gemini]`"],
    instead: "thoughts hidden",
    why: "Google shows its thoughts on demand only, for which chat has no field.",
  },
  {
    scenarios: ["error mid-stream"],
    clients: ["chat"],
    upstreams: ["mistral"],
    instead: "two errors",
    why: "OpenAI's SDK ignores Mistral's error event, which passes; one of the gateway's follows it.",
  },
];

/** The exceptions that a cell is. */
export function exceptionsOf(scenario: Scenario, client: Dialect, upstream: Upstream): Exception[] {
  return exceptions.filter(
    (one) =>
      one.scenarios.includes(scenario) &&
      (one.clients?.includes(client) ?? true) &&
      (one.upstreams?.includes(upstream.title) ?? true) &&
      (one.speaking === undefined || spoken(upstream, client, scenario) === one.speaking),
  );
}
