import { addUsage, type JsonObject, objectOf, objectsOf, type ObservedUsage, type Usage } from "../../core/index.ts";
import { countOf, textOf, toldCount, uncountedOf } from "./json.ts";
import { counted } from "./tools/hosted-tools.ts";

/**
 * `input_tokens` excludes cache reads and writes, `output_tokens` includes reasoning. Cache writes that are not listed
 * by lifetime have the default of five minutes. Rounds of a compaction or an advisor are listed in `iterations` alone and
 * billed too, those of an advisor at its own model's price (`docs/wire/anthropic.md`).
 */
export function readMessagesUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const [toldIn, toldOut] = [toldCount(usage["input_tokens"]), toldCount(usage["output_tokens"])];
  const rounds = otherRounds(usage);
  const webSearches = countOf(objectOf(usage["server_tool_use"])?.["web_search_requests"]);
  if (toldIn === undefined && toldOut === undefined && webSearches + rounds.length === 0) return undefined;
  const details = objectOf(usage["output_tokens_details"]);
  const thought = countOf(details?.["thinking_tokens"]);
  const output = toldOut ?? thought;
  const reasoning = Math.min(thought, output);
  // Anthropic has none; other gateways do.
  const outputImage = Math.min(countOf(details?.["image_tokens"]), output - reasoning);
  const answered: Usage = {
    ...readCounts(usage),
    output: output - reasoning - outputImage,
    reasoning,
    ...counted({ outputImage, webSearches }),
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

/** How much more than the input the cache may have read, and be part of it nevertheless: counts of the two differ a little. */
const CACHE_EXCESS = 1.1;

/** The input without the cache. One that is far less does not contain it: Kimi counts so at the end of some streams. */
export function withoutCache(usage: Usage): Usage {
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  const cached = cacheRead + cacheWrite5m + cacheWrite1h;
  return cached > input * CACHE_EXCESS ? usage : { ...usage, input: Math.max(input - cached, 0) };
}

/** Whatever stands between the gateway and the API may leave the type out. */
export function isMessagesFailure({ type, error, content }: JsonObject): boolean {
  return type === "error" || (error !== undefined && error !== null && content === undefined);
}
