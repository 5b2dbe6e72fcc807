/** The table of docs/tools.md: who runs a hosted tool, by dialect and provider. A test asks the gateway for each cell. */
import type { JsonObject, ModelOperation } from "../../src/core/index.ts";
import { withAskedFeatures } from "../../src/calls/index.ts";
import { chatCodec, messagesCodec, responsesCodec, type TextCodec } from "../../src/dialects/index.ts";
import { runsAllItself } from "../../src/hosted/index.ts";
import { PriceBook } from "../../src/pricing/index.ts";
import { createProvider, type ProviderChoice } from "../../src/providers/index.ts";
import type { Target } from "../../src/routing/index.ts";
import { between, table } from "../shared/markdown.ts";

const begin = '<!-- Written by "npm run generate" from the prices of 28 November 2026: -->';
const end = "<!-- End of the generated table. -->";

/** A fixed moment, because some prices change with the date and the hour. */
const clock = (): number => Date.UTC(2026, 10, 28, 12);
const book = new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock });

interface Sample {
  choice: ProviderChoice;
  model: string;
}

/** A model of each provider. */
export const samples: Readonly<Record<string, Sample>> = {
  openai: { choice: { kind: "openai", baseUrl: "https://api.openai.com/v1" }, model: "gpt-5-mini" },
  anthropic: { choice: { kind: "anthropic", baseUrl: "https://api.anthropic.com" }, model: "claude-haiku-4-5" },
  google: {
    choice: { kind: "google", baseUrl: "https://generativelanguage.googleapis.com" },
    model: "gemini-2.5-flash",
  },
  xai: { choice: { kind: "xai", baseUrl: "https://api.x.ai/v1" }, model: "grok-4.3" },
  byteplus: {
    choice: { kind: "byteplus", baseUrl: "https://ark.ap-southeast.bytepluses.com/api/v3" },
    model: "seed-1-8-251228",
  },
  deepseek: {
    choice: { kind: "openai-compatible", preset: "deepseek", baseUrl: "https://api.deepseek.com" },
    model: "deepseek-chat",
  },
  mistral: {
    choice: { kind: "openai-compatible", preset: "mistral", baseUrl: "https://api.mistral.ai/v1" },
    model: "mistral-small-latest",
  },
};

type AskingDialect = "chat" | "messages" | "responses";

/** The rows: a tool of a dialect. */
export const askedTools: readonly (readonly [dialect: AskingDialect, tool: string])[] = [
  ["responses", "web_search"],
  ["responses", "code_interpreter"],
  ["responses", "file_search"],
  ["responses", "shell"],
  ["responses", "tool_search"],
  ["responses", "image_generation"],
  ["messages", "web_search_20250305"],
  ["messages", "web_fetch_20250910"],
  ["messages", "code_execution_20250825"],
  ["messages", "tool_search_tool_bm25_20251119"],
  ["messages", "tool_search_tool_regex_20251119"],
  ["chat", "web_search_options"],
  ["chat", "web_search"],
];

/** The members that tools must have. */
const settings: Readonly<Record<string, JsonObject>> = {
  code_interpreter: { container: { type: "auto" } },
  file_search: { vector_store_ids: [] },
  shell: { environment: { type: "container_auto" } },
};

/** The part of a body that asks for a tool. */
export function askingFor(tool: string): JsonObject {
  if (tool === "web_search_options") return { web_search_options: {} };
  return { tools: [{ type: tool, ...settings[tool], ...(/\d$/.test(tool) && { name: tool.replace(/_\d+$/, "") }) }] };
}

const operations: Readonly<Record<AskingDialect, readonly ModelOperation[]>> = {
  chat: ["chat", "messages", "responses", "gemini"],
  messages: ["messages", "chat", "responses", "gemini"],
  responses: ["responses", "chat", "messages", "gemini"],
};

const codecs: Readonly<Record<AskingDialect, TextCodec<never>>> = {
  chat: chatCodec,
  messages: messagesCodec,
  responses: responsesCodec,
};

/** Who runs the tool: the provider itself, or the gateway. */
export function runnerOf(dialect: AskingDialect, tool: string, prefix: string): "native" | "gateway" {
  const body: JsonObject = { model: "", messages: [], input: "", max_tokens: 1, ...askingFor(tool) };
  const target = withAskedFeatures(targetOf(dialect, prefix), codecs[dialect], body as never);
  return runsAllItself(dialect, body, target) ? "native" : "gateway";
}

function targetOf(dialect: AskingDialect, prefix: string): Target {
  const sample = samples[prefix];
  if (sample === undefined) throw new Error(`no provider ${prefix}`);
  const { choice, model } = sample;
  const provider = createProvider(choice);
  const modelId = `${prefix}/${model}`;
  const price = book.lookup({ id: modelId, model, priceProvider: provider.priceProvider });
  const operation = operations[dialect].map((name) => provider.operations[name]).find((each) => each !== undefined);
  if (price === undefined || operation === undefined) throw new Error(`no price for ${modelId}`);
  // The keys and the address are of no use here.
  const route = { prefix, provider } as Target["route"];
  return { route, operation, modelId, model, price, priceOf: () => undefined };
}

/** Returns docs/tools.md with its table. Throws if the markers around it are missing. */
export function withHostedMatrix(document: string): string {
  const prefixes = Object.keys(samples);
  const rows = askedTools.map(([dialect, tool]) => [
    `\`${tool}\``,
    dialect,
    ...prefixes.map((prefix) => runnerOf(dialect, tool, prefix)),
  ]);
  return between(document, begin, end, table(["tool", "in", ...prefixes.map((prefix) => `\`${prefix}\``)], rows));
}
