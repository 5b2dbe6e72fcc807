import { type AlternativeModels, type JsonObject, listOf, type ModelFacts, objectOf } from "../../core/index.ts";
import { fitSampling } from "../facts/fit-body.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import type { RequestedExtras, UpstreamOperation } from "../provider.ts";
import { counted, fitsName, free, inRuns, toolReader, toolsOf } from "../shared/tools/hosted-tools.ts";
import { countOf } from "../shared/json.ts";
import { isMessagesFailure, readMessagesUsage, withoutCache } from "../shared/messages-usage.ts";
import { askedTerms } from "../shared/terms.ts";
import type { ToolReader } from "../tool-purchase.ts";

/** The billed extras of a request, besides its tools. */
function extras(body: JsonObject): RequestedExtras | undefined {
  const terms = askedTerms(body["speed"], body["inference_geo"]);
  const alternatives = fallbacksOf(body);
  if (terms === undefined && alternatives === undefined) return undefined;
  return { ...(terms && { terms }), ...(alternatives && { alternatives }) };
}

/** The models that answer if the requested one declines to (the SDK's `BetaFallbacksParam`). */
function fallbacksOf(body: JsonObject): AlternativeModels | undefined {
  const { fallbacks } = body;
  if (fallbacks === undefined || fallbacks === null) return undefined;
  if (!Array.isArray(fallbacks)) return { models: [], chosenBy: "fallbacks" };
  const models = listOf(fallbacks).flatMap((each) => {
    const { model, max_tokens, speed } = objectOf(each) ?? {};
    if (typeof model !== "string") return [];
    const terms = askedTerms(speed ?? body["speed"], body["inference_geo"]);
    return [{ model, terms, outputTokens: typeof max_tokens === "number" ? countOf(max_tokens) : undefined }];
  });
  return models.length === 0 ? undefined : { models };
}

/** The tokens that are held for a piece of advice without a limit: Anthropic advises so many. */
const ADVICE_TOKENS = 2_048;

const limitOfTool = { field: "max_uses", within: "tool" } as const;

const searchesWeb: ToolReader = ({ max_uses }) =>
  inRuns(max_uses, (webSearches) => ({ units: counted({ webSearches }) }), limitOfTool);

/** An advisor reads the whole conversation in each of its runs. */
const advisor: ToolReader = ({ model, max_uses, max_tokens }) => {
  if (typeof model !== "string") return undefined;
  const outputTokens = typeof max_tokens === "number" ? countOf(max_tokens) : ADVICE_TOKENS;
  return inRuns(max_uses, (runs) => ({ helper: { model, runs, outputTokens } }), limitOfTool);
};

/**
 * Anthropic bills searches apart; the content of a fetched page is billed as input. Code runs within an allowance
 * of free hours, and free of charge beside a search. The client runs the others (the SDK's `BetaToolUnion`).
 */
const readTool = toolReader([
  [/^(?:custom)?$/, free],
  [/^(?:bash|text_editor|memory|computer|computer_toolset|browser_toolset)_\d{8}$/, free],
  [/^(?:web_fetch|code_execution)_\d{8}$/, free],
  [/^(?:mcp_toolset|tool_search_tool_(?:bm25|regex)(?:_\d{8})?)$/, free],
  [/^web_search_\d{8}$/, searchesWeb],
  [/^advisor_\d{8}$/, advisor],
]);

/** The version of a model as a number: 4.6 for `claude-opus-4-6`. */
function versionOf(model: string): number | undefined {
  const [, major, minor] = /^claude-[a-z]+-(\d+)(?:-(\d)(?!\d))?/.exec(model) ?? [];
  return major === undefined ? undefined : Number(`${major}.${minor ?? 0}`);
}

/**
 * Streams contain a summary of the thoughts that are billed. A body without `thinking` turns it off for models up to 4.x;
 * of later ones that is not known.
 */
export function hidesThought(model: string, { thinking }: JsonObject): boolean {
  const type = objectOf(thinking)?.["type"];
  if (type !== undefined) return type !== "disabled";
  return (versionOf(model) ?? 0) >= 5;
}

/** Counts the input tokens that a call would have, at the upstream. */
export const countTokens: UpstreamOperation = {
  dialect: "messages",
  path: "/v1/messages/count_tokens",
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  edits: () => [],
  readUsage: () => undefined,
  isFailure: isMessagesFailure,
};

const factsOf = factsFrom(factRows.anthropic, "messages");

/** Names that are too long for a model change the answer too. */
function hasLongNames(body: JsonObject, facts: ModelFacts): boolean {
  const tools = toolsOf(body);
  if (tools.length === 0) return false;
  const isLong = (named: JsonObject): boolean => !fitsName(named, facts);
  const isLongCall = (value: unknown): boolean => {
    const block = objectOf(value);
    return block?.["type"] === "tool_use" && isLong(block);
  };
  return (
    tools.some(isLong) ||
    listOf(body["messages"]).some((message) => listOf(objectOf(message)?.["content"]).some(isLongCall))
  );
}

/** A tool that must be called: the arguments may be asked for as an answer, which becomes the call. */
function isForced({ tool_choice: choice }: JsonObject): boolean {
  const type = objectOf(choice)?.["type"];
  return type === "any" || type === "tool";
}

/** The native API. */
export const messages: UpstreamOperation = {
  dialect: "messages",
  path: "/v1/messages",
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  edits: (body, model) => fitSampling(body, factsOf(model)),
  facts: factsOf,
  needsTranslation(body, model) {
    const facts = factsOf(model);
    return hasLongNames(body, facts) || (facts.freeToolChoice === true && isForced(body));
  },
  extras,
  readTool,
  outputLimit: { field: "max_tokens", replaces: [], min: 1, hidesThought },
  readUsage: readMessagesUsage,
  isFailure: isMessagesFailure,
};

/** The same at upstreams whose input contains the cache. */
export const messagesWithCache: UpstreamOperation = {
  ...messages,
  readUsage(answer) {
    const observed = readMessagesUsage(answer);
    return observed && { ...observed, usage: withoutCache(observed.usage) };
  },
};
