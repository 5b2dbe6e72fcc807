/**
 * Compares addresses with the patterns of a crawl. RE2's expressions take linear time, but a list of them may take 70 ms for one
 * address, and the addresses are a stranger's.
 */
import { RE2JS } from "re2js";

/** An address is wanted if no pattern excludes it, and one includes it, or none includes any. */
export interface PatternLists {
  include: readonly string[];
  exclude: readonly string[];
}

export interface PatternRequest extends PatternLists {
  /** Processor time for all addresses; those beyond it are not compared. */
  cpuMsMax: number;
}

/** One for each address that was compared, in their order: whether it is wanted. */
export interface PatternVerdicts {
  wanted: boolean[];
  cpuMs: number;
}

/** Addresses, one a line, in UTF-8. Throws for a pattern that is none. */
export function matchPatterns(bytes: Uint8Array, { include, exclude, cpuMsMax }: PatternRequest): PatternVerdicts {
  const before = process.cpuUsage();
  const spentMs = (): number => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const [included, excluded] = [include, exclude].map((list) => list.map((pattern) => RE2JS.compile(pattern)));
  const wanted: boolean[] = [];
  for (const text of new TextDecoder().decode(bytes).split("\n")) {
    if (spentMs() > cpuMsMax) break;
    const find = (pattern: RE2JS): boolean => pattern.matcher(text).find();
    const isIncluded = include.length === 0 || included?.some(find) === true;
    wanted.push(isIncluded && excluded?.some(find) !== true);
  }
  return { wanted, cpuMs: Math.round(spentMs()) };
}
