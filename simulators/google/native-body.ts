import { isObject, type JsonObject } from "../shared/json.ts";

/** Members whose values have names of the caller's own. */
const opaque: ReadonlySet<string> = new Set([
  "args",
  "response",
  "parameters",
  "parametersJsonSchema",
  "responseSchema",
  "responseJsonSchema",
  "labels",
]);

/** A request with the names that the documentation has: the API reads `snake_case` too. */
export function inCamelCase(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [camel, opaque.has(camel) ? value : convert(value)];
    }),
  );
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  return isObject(value) ? inCamelCase(value) : value;
}

/** A list, or the one object that stands for it. */
export function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}
