/** A JSON object with unchecked members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns `value` if it is an object, otherwise undefined: the shape of external data is never trusted. */
export function objectOf(value: unknown): JsonObject | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

const NO_ELEMENTS: readonly unknown[] = [];

/** Returns `value` if it is an array, otherwise an empty array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ELEMENTS;
}

/** Returns the objects of `value` if it is an array, without its other elements; otherwise an empty array. */
export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value)
    .map(objectOf)
    .filter((one) => one !== undefined);
}

/** Returns `value` if it is a string, otherwise an empty one. */
export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The keys of an object that has no others than its type names. */
export function keysOf<Key extends string>(object: Readonly<Partial<Record<Key, unknown>>>): Key[] {
  return Object.keys(object) as Key[];
}

/** Parses a JSON object; undefined if the text is no JSON or another kind of value. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
