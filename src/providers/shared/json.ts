export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** No real count comes near; a larger one is an upstream's mistake and must not become a charge. */
const COUNT_MAX = 1e12;

/** A count that can be charged: a whole number, zero for anything that is none. */
export function countOf(value: unknown): number {
  return typeof value === "number" && value > 0 && value <= COUNT_MAX ? Math.floor(value) : 0;
}

/** A positive whole number, or undefined. */
export function limitOf(value: unknown): number | undefined {
  const count = countOf(value);
  return count > 0 ? count : undefined;
}
