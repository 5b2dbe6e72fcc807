/** The bounds of the patterns that a crawl compares addresses with. */
import type { RE2JS } from "re2js";
import { GatewayError } from "../../core/index.ts";
import type { Discovery } from "./crawl-request.ts";

/**
 * Instructions of the patterns of a list together: their number times the characters of an address is the time that one address
 * may take, some 70 ms at the most. Usual patterns have 10 to 30.
 */
const INSTRUCTIONS_MAX = 2_000;

/** The counts of a pattern's repetitions together, since `x{1000}` is compiled to a thousand instructions. */
const REPETITIONS_MAX = 200;

type PatternMembers = Pick<Discovery, "includePaths" | "excludePaths">;

/**
 * Rejects with 422 for patterns that are none, or that are too large. The library is loaded with the first pattern: few crawls
 * have any, and it takes 5 MB.
 */
export async function checkPatterns({ includePaths, excludePaths }: PatternMembers): Promise<void> {
  await check(includePaths, "includePaths");
  await check(excludePaths, "excludePaths");
}

async function check(patterns: readonly string[], member: string): Promise<void> {
  if (patterns.length === 0) return;
  const { RE2JS } = await import("re2js");
  let instructions = 0;
  for (const [index, pattern] of patterns.entries()) {
    const param = `${member}.${index}`;
    const refused = (why: string): GatewayError => new GatewayError("validation_failed", `${param}: ${why}`, { param });
    if (repetitionsOf(pattern) > REPETITIONS_MAX) throw refused(`repeats more than ${REPETITIONS_MAX} times`);
    let compiled: RE2JS;
    try {
      compiled = RE2JS.compile(pattern);
    } catch {
      throw refused("no regular expression of RE2");
    }
    instructions += compiled.programSize();
    if (instructions > INSTRUCTIONS_MAX) throw refused("the patterns are too large together");
  }
}

/** The greatest counts of all `{n}`, `{n,}` and `{n,m}`, added up. */
function repetitionsOf(pattern: string): number {
  let sum = 0;
  for (const [, least, most = ""] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    sum += Number(most === "" ? least : most);
  return sum;
}
