import { asArray, asObject, isObject, type JsonObject } from "./json.ts";

/** Below this depth only required members are created, so recursive schemas end. */
const depthMax = 8;
/** A schema that requires itself forever has no instance: values deeper than this, or after so many, become null. */
const depthLimit = 500;
const valuesMax = 20_000;
const itemsMax = 10_000;
const textLengthMax = 1_000_000;

/** Texts tried against a `pattern`, from plain to odd. */
const patternSamples = [
  "sample",
  "Sample",
  "a",
  "A",
  "ab",
  "AB",
  "abc",
  "ABC",
  "0",
  "1",
  "00",
  "12",
  "123",
  "1234",
  "12345",
  "a1",
  "A1",
  "AB12",
  "2026-01-01",
  "12:00",
  "user@example.com",
  "https://example.com/",
  "+10000000000",
  "#aabbcc",
  "1.0.0",
  "",
];

const formatSamples = new Map([
  ["date-time", "2026-01-01T00:00:00Z"],
  ["date", "2026-01-01"],
  ["time", "12:00:00Z"],
  ["duration", "P1D"],
  ["email", "user@example.com"],
  ["hostname", "example.com"],
  ["ipv4", "192.0.2.1"],
  ["ipv6", "2001:db8::1"],
  ["uri", "https://example.com/"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
]);

interface Place {
  readonly root: JsonObject;
  readonly name: string;
  readonly depth: number;
  readonly budget: { values: number };
}

/**
 * A small JSON value that satisfies a JSON Schema: required members only, or all declared ones if none is required.
 * Covers type, enum, const, objects, arrays, anyOf/oneOf (first branch), allOf (merged), local `$ref`, number and
 * length bounds, common formats and simple patterns.
 */
export function jsonInstance(schema: unknown): unknown {
  return instance(schema, { root: asObject(schema), name: "value", depth: 0, budget: { values: valuesMax } });
}

function instance(schema: unknown, place: Place): unknown {
  if (!isObject(schema)) return "sample";
  if (exhausted(place)) return null;
  const resolved = resolve(schema, place);
  if ("const" in resolved) return resolved["const"];
  const choices = asArray(resolved["enum"]);
  if (choices.length > 0) return choices[0];
  return typedInstance(resolved, place);
}

function exhausted(place: Place): boolean {
  place.budget.values -= 1;
  return place.budget.values < 0 || place.depth > depthLimit;
}

/** Follows `$ref`, merges `allOf` and takes the first branch of `anyOf`/`oneOf`. */
function resolve(schema: JsonObject, place: Place): JsonObject {
  if (exhausted(place)) return { type: "null" };
  const deeper = { ...place, depth: place.depth + 1 };
  let merged = schema;
  for (let hop = 0; hop < depthMax && typeof merged["$ref"] === "string"; hop++) {
    const { $ref: reference, ...rest } = merged;
    merged = { ...referenced(reference, place.root), ...rest };
  }
  for (const part of asArray(merged["allOf"])) merged = mergeSchemas(merged, resolve(asObject(part), deeper));
  const branches = [...asArray(merged["anyOf"]), ...asArray(merged["oneOf"])];
  if (branches.length === 0) return merged;
  const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = merged;
  return mergeSchemas(rest, resolve(asObject(shallowest(branches, place)), deeper));
}

/** The first branch; deep down the first that is neither a reference nor a container, so recursion ends. */
function shallowest(branches: readonly unknown[], place: Place): unknown {
  if (place.depth < depthMax) return branches[0];
  const leaf = branches.find((branch) => {
    const type = asObject(branch)["type"];
    return type !== undefined && type !== "object" && type !== "array";
  });
  return leaf ?? branches[0];
}

function referenced(reference: string, root: JsonObject): JsonObject {
  let target: unknown = root;
  for (const segment of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    target = asObject(target)[decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return asObject(target);
}

function mergeSchemas(left: JsonObject, right: JsonObject): JsonObject {
  return {
    ...left,
    ...right,
    properties: { ...asObject(left["properties"]), ...asObject(right["properties"]) },
    required: [...asArray(left["required"]), ...asArray(right["required"])],
  };
}

function typedInstance(schema: JsonObject, place: Place): unknown {
  switch (typeOf(schema)) {
    case "object":
      return objectInstance(schema, place);
    case "array":
      return arrayInstance(schema, place);
    case "integer":
      return numberInstance(schema, true);
    case "number":
      return numberInstance(schema, false);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textInstance(schema, place.name);
  }
}

function typeOf(schema: JsonObject): string {
  const type = schema["type"];
  if (typeof type === "string") return type;
  const first = asArray(type).find((entry) => entry !== "null") ?? asArray(type)[0];
  if (typeof first === "string") return first;
  if (Object.keys(asObject(schema["properties"])).length > 0) return "object";
  return schema["items"] === undefined ? "string" : "array";
}

function objectInstance(schema: JsonObject, place: Place): JsonObject {
  const properties = asObject(schema["properties"]);
  const required = asArray(schema["required"]).filter((name) => typeof name === "string");
  const names = required.length > 0 || place.depth >= depthMax ? required : Object.keys(properties);
  const members: [string, unknown][] = [];
  for (const name of new Set(names)) {
    members.push([name, instance(properties[name], { ...place, name, depth: place.depth + 1 })]);
  }
  return Object.fromEntries(members);
}

function arrayInstance(schema: JsonObject, place: Place): unknown[] {
  const prefix = asArray(schema["prefixItems"]);
  const least = numberOf(schema["minItems"]) ?? (place.depth >= depthMax ? 0 : 1);
  const most = Math.min(numberOf(schema["maxItems"]) ?? itemsMax, itemsMax);
  const deeper = { ...place, depth: place.depth + 1 };
  const items: unknown[] = [];
  while (items.length < Math.min(Math.max(least, prefix.length), most)) {
    items.push(instance(prefix[items.length] ?? schema["items"], deeper));
  }
  if (schema["uniqueItems"] !== true) return items;
  return items.map((item, index) => (index === 0 ? item : distinct(item, index)));
}

function distinct(item: unknown, index: number): unknown {
  if (typeof item === "number") return item + index;
  return typeof item === "string" ? `${item} ${index + 1}` : item;
}

function numberInstance(schema: JsonObject, whole: boolean): number {
  const low = bound(schema, "minimum", "exclusiveMinimum");
  const high = bound(schema, "maximum", "exclusiveMaximum");
  const step = numberOf(schema["multipleOf"]) ?? (whole ? 1 : null);
  const value = step === null ? between(low, high) : multipleWithin(step, low, high);
  return Number(value.toFixed(9));
}

interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
}

function bound(schema: JsonObject, inclusive: string, exclusive: string): Bound | null {
  const strict = numberOf(schema[exclusive]);
  if (strict !== null) return { value: strict, exclusive: true };
  const value = numberOf(schema[inclusive]);
  return value === null ? null : { value, exclusive: false };
}

function between(low: Bound | null, high: Bound | null): number {
  if (low !== null && high !== null) return (low.value + high.value) / 2;
  if (low !== null) return low.value + 0.5;
  return high === null ? 1.5 : high.value - 0.5;
}

function multipleWithin(step: number, low: Bound | null, high: Bound | null): number {
  if (low !== null) {
    const first = Math.ceil(low.value / step) * step;
    return low.exclusive && first === low.value ? first + step : first;
  }
  if (high === null) return step;
  const last = Math.floor(high.value / step) * step;
  return Math.min(step, high.exclusive && last === high.value ? last - step : last);
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function textInstance(schema: JsonObject, name: string): string {
  const format = formatSamples.get(String(schema["format"]));
  if (format !== undefined) return format;
  const least = Math.min(numberOf(schema["minLength"]) ?? 0, textLengthMax);
  const most = numberOf(schema["maxLength"]) ?? Infinity;
  if (typeof schema["pattern"] === "string") return matching(schema["pattern"], least, most);
  return `sample ${name}`.slice(0, most).padEnd(least, "x");
}

function matching(pattern: string, least: number, most: number): string {
  const expression = compile(pattern);
  const candidates = patternSamples.map((sample) => (sample === "" ? "" : sample.padEnd(least, sample.slice(-1))));
  return candidates.find((text) => text.length <= most && text.length >= least && expression.test(text)) ?? "sample";
}

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return /^/;
  }
}
