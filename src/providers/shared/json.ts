export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** No real count comes near it. A larger one is a mistake of the upstream and must not be charged. */
const COUNT_MAX = 1e12;

/** A count that can be charged: a whole number, or zero for anything else. */
export function countOf(value: unknown): number {
  return typeof value === "number" && value > 0 && value <= COUNT_MAX ? Math.floor(value) : 0;
}

/** A positive whole number, or undefined. */
export function limitOf(value: unknown): number | undefined {
  const count = countOf(value);
  return count > 0 ? count : undefined;
}
