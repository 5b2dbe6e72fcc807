import type { ObservedUsage, UsageSide } from "../../core/index.ts";

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** No real count comes near it. A larger one is a mistake of the upstream and must not be charged. */
const COUNT_MAX = 1e12;

/** An upstream's count: a whole number. Undefined for anything else: then the upstream has not counted. */
export function toldCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= COUNT_MAX ? value : undefined;
}

/** A part of a count, or a number of units: rounded down, or zero for anything but a positive number. */
export function countOf(value: unknown): number {
  return typeof value === "number" && value > 0 && value <= COUNT_MAX ? Math.floor(value) : 0;
}

/** A positive whole number, or undefined. */
export function limitOf(value: unknown): number | undefined {
  const count = countOf(value);
  return count > 0 ? count : undefined;
}

const both = ["input", "output"] as const satisfies readonly UsageSide[];
const sides = {
  none: {},
  input: { uncounted: [both[0]] },
  output: { uncounted: [both[1]] },
  both: { uncounted: both },
} as const satisfies Record<string, Pick<ObservedUsage, "uncounted">>;

/** Names the sides without a total: each is estimated by itself (`charges/estimate.ts`). */
export function uncountedOf(input: number | undefined, output: number | undefined): Pick<ObservedUsage, "uncounted"> {
  if (input === undefined) return output === undefined ? sides.both : sides.input;
  return output === undefined ? sides.output : sides.none;
}
