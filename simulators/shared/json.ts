/** A decoded JSON object whose members are not known yet. */
export type JsonObject = { readonly [key: string]: unknown };

/** True for a plain JSON object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object itself, or an empty one where the value is something else. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The array itself, or an empty one where the value is something else. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Decodes JSON text; undefined where it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** False for what is left out, and for null, which counts as left out. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A text, or what stands for a missing one. */
export function stringOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}
