import {
  addUsage,
  type AlternativeModels,
  type JsonObject,
  listOf,
  type ModelFacts,
  objectOf,
  objectsOf,
  type ObservedUsage,
  type Usage,
} from "../../core/index.ts";
import { fitSampling } from "../facts/fit-body.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import type { RequestedExtras, UpstreamOperation } from "../provider.ts";
import { counted, fitsName, free, inRuns, toolReader, toolsOf } from "../shared/tools/hosted-tools.ts";
import { countOf, textOf, toldCount, uncountedOf } from "../shared/json.ts";
import { askedTerms } from "../shared/terms.ts";
import type { ToolReader } from "../tool-purchase.ts";

/**
 * `input_tokens` excludes cache reads and writes, `output_tokens` includes reasoning. Cache writes that are not listed
 * by lifetime have the default of five minutes. Rounds of a compaction or an advisor are listed in `iterations` alone and
 * billed too, those of an advisor at its own model's price (`docs/wire/anthropic.md`).
 */
function readMessagesUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const [toldIn, toldOut] = [toldCount(usage["input_tokens"]), toldCount(usage["output_tokens"])];
  const rounds = otherRounds(usage);
  const webSearches = countOf(objectOf(usage["server_tool_use"])?.["web_search_requests"]);
  if (toldIn === undefined && toldOut === undefined && webSearches + rounds.length === 0) return undefined;
  const thought = countOf(objectOf(usage["output_tokens_details"])?.["thinking_tokens"]);
  const output = toldOut ?? thought;
  const reasoning = Math.min(thought, output);
  const answered: Usage = {
    ...readCounts(usage),
    output: output - reasoning,
    reasoning,
    ...counted({ webSearches }),
    requests: 1,
  };
  const named = { ...uncountedOf(toldIn, toldOut), ...namedTerms(usage), ...answeredBy(answer, usage) };
  if (rounds.length === 0) return { usage: answered, ...named };
  const others = rounds.flatMap((round) =>
    typeof round["model"] === "string" ? [{ model: round["model"], usage: readRound(round) }] : [],
  );
  return {
    usage: rounds.map(readRound).reduce(addUsage, answered),
    ...(others.length === 0 ? {} : { others }),
    ...named,
  };
}

/** The terms that an answer names. Its `service_tier` tells capacity that is priced as usual. */
function namedTerms({ speed, inference_geo }: JsonObject): Pick<ObservedUsage, "terms"> {
  const [serviceTier, inferenceGeo] = [textOf(speed), textOf(inference_geo)];
  if (serviceTier === undefined && inferenceGeo === undefined) return {};
  return {
    terms: {
      ...(serviceTier === undefined ? {} : { serviceTier }),
      ...(inferenceGeo === undefined ? {} : { inferenceGeo }),
    },
  };
}

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

/** The rounds that are not part of the figures at the top. A round that a model declined costs nothing. */
function otherRounds(usage: JsonObject): JsonObject[] {
  return roundsOf(usage).filter(({ type }) => type !== "message" && type !== "fallback_message");
}

function roundsOf(usage: JsonObject): JsonObject[] {
  return objectsOf(usage["iterations"]);
}

/** The model that has answered, perhaps in place of the requested one: the figures at the top are its own. */
function answeredBy({ model: named }: JsonObject, usage: JsonObject): Pick<ObservedUsage, "answeredBy"> {
  const round = roundsOf(usage).findLast(({ type }) => type === "fallback_message");
  const model = textOf(round?.["model"] ?? named);
  return model === undefined ? {} : { answeredBy: model };
}

function readRound(round: JsonObject): Usage {
  return { ...readCounts(round), output: countOf(round["output_tokens"]) };
}

function readCounts(usage: JsonObject): Usage {
  const cacheWrite1h = countOf(objectOf(usage["cache_creation"])?.["ephemeral_1h_input_tokens"]);
  return {
    input: countOf(usage["input_tokens"]),
    cacheRead: countOf(usage["cache_read_input_tokens"]),
    cacheWrite5m: Math.max(countOf(usage["cache_creation_input_tokens"]) - cacheWrite1h, 0),
    cacheWrite1h,
  };
}

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

/** Whatever stands between the gateway and the API may leave the type out. */
function isFailure({ type, error, content }: JsonObject): boolean {
  return type === "error" || (error !== undefined && error !== null && content === undefined);
}

/** Counts the input tokens that a call would have, at the upstream. */
export const countTokens: UpstreamOperation = {
  dialect: "messages",
  path: "/v1/messages/count_tokens",
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  edits: () => [],
  readUsage: () => undefined,
  isFailure,
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
  isFailure,
};

/** The same at upstreams whose input contains the cache. */
export const messagesWithCache: UpstreamOperation = {
  ...messages,
  readUsage(answer) {
    const observed = readMessagesUsage(answer);
    return observed && { ...observed, usage: withoutCache(observed.usage) };
  },
};

/** How much more than the input the cache may have read, and be part of it nevertheless: counts of the two differ a little. */
const CACHE_EXCESS = 1.1;

/** The input without the cache. One that is far less does not contain it: Kimi counts so at the end of some streams. */
function withoutCache(usage: Usage): Usage {
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  const cached = cacheRead + cacheWrite5m + cacheWrite1h;
  return cached > input * CACHE_EXCESS ? usage : { ...usage, input: Math.max(input - cached, 0) };
}
