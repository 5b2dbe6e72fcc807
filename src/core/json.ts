/** A JSON object whose members are yet to be looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** `value` as an object, or undefined for everything else: what comes from outside is read without trust in its shape. */
export function objectOf(value: unknown): JsonObject | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** `value` as a list; an empty one for everything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The object that a text holds as JSON, or undefined where it holds none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
