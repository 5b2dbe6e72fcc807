import type { TokenCounts } from "../shared/answer.ts";
import { badValue, type Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";

/** Shorter prompts are not written to a cache. */
const promptTokensMin = 1_024;

/** Models since 5.6 write caches at a price. */
const writes = /^gpt-(?:5\.[6-9]|[6-9])/;

const lifetimes = ["30m", "12h"];

/** Tokens that are written to a cache, by their lifetime. */
interface WrittenTokens {
  readonly short: number;
  readonly long: number;
}

/** The breakpoints of a chat's messages or of a response's input, in their order. */
function breakpointsIn(turns: unknown): JsonObject[] {
  return asArray(turns)
    .flatMap((turn) => asArray(asObject(turn)["content"]))
    .map((part) => asObject(part)["prompt_cache_breakpoint"])
    .filter(isGiven)
    .map(asObject);
}

/** A lifetime that the cache does not have. */
export function cacheProblem(body: JsonObject, turns: unknown): Problem | null {
  const options = asObject(body["prompt_cache_options"]);
  const found = [options, ...breakpointsIn(turns)].map(({ ttl }) => ttl).filter(isGiven);
  const unknown = found.find((ttl) => !lifetimes.includes(String(ttl)));
  return unknown === undefined
    ? null
    : badValue("prompt_cache_options.ttl", `supported values are ${lifetimes.join(", ")}`, unknown);
}

/** A prompt with a breakpoint is written whole, for the lifetime of the last one; the options may set one by themselves. */
export function writtenTokens(body: JsonObject, turns: unknown, tokens: TokenCounts): WrittenTokens {
  const options = body["prompt_cache_options"];
  const { mode, ttl } = asObject(options);
  const last = breakpointsIn(turns).at(-1);
  const isWritten = last !== undefined || (isGiven(options) && mode !== "explicit");
  if (!isWritten || !writes.test(String(body["model"])) || tokens.prompt < promptTokensMin)
    return { short: 0, long: 0 };
  const written = tokens.prompt - tokens.cached;
  return (last?.["ttl"] ?? ttl) === "12h" ? { short: 0, long: written } : { short: written, long: 0 };
}
