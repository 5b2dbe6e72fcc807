/** A decoded JSON object with unknown members. */
export type JsonObject = { readonly [key: string]: unknown };

/** True for a plain JSON object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object itself, or an empty one if the value is something else. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The array itself, or an empty one if the value is something else. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Decodes JSON text; undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** False for absent values, and for null, which counts as absent. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A text, or a default if it is missing. */
export function stringOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}
