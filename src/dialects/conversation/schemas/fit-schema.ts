import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../../core/index.ts";

/** Formats of texts that Claude can be held to (`docs/wire/anthropic.md`). */
const formats: ReadonlySet<unknown> = new Set(
  "date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "),
);

const isPlain = (value: unknown): boolean => value === null || typeof value !== "object";

/** Keywords that Claude can be held to, each with the values that it takes; members of objects and lists are looked at apart. */
const taken: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: () => true,
  title: () => true,
  default: () => true,
  required: () => true,
  $ref: () => true,
  enum: (value) => listOf(value).length > 0 && listOf(value).every(isPlain),
  const: isPlain,
  format: (value) => formats.has(value),
  minItems: (value) => value === 0 || value === 1,
};

/** Keywords that do not restrict a value, or that are replaced. */
const untold: ReadonlySet<string> = new Set(["$schema", "$id", "description", "additionalProperties"]);

/** Keywords whose value is a schema for each name. */
const named: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/** Keywords whose value is a list of schemas, with their names at Claude. */
const listed: Readonly<Record<string, string>> = { anyOf: "anyOf", oneOf: "anyOf", allOf: "allOf" };

/**
 * The schema of an answer or of a strict tool as Anthropic's SDKs write it: bounds, patterns and other keywords that are refused are part of
 * the description, and objects have no other members than the named ones.
 */
export function fitStrictSchema(schema: JsonObject): JsonObject {
  const fitted: Record<string, unknown> = {};
  const told: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const list = listed[keyword];
    if (named.has(keyword)) fitted[keyword] = mapValues(objectOf(value) ?? {}, fitInner);
    else if (list !== undefined && Array.isArray(value) && !(list in fitted)) fitted[list] = value.map(fitInner);
    else if (keyword === "items" && objectOf(value) !== undefined) fitted[keyword] = fitInner(value);
    else if (Object.hasOwn(taken, keyword) && taken[keyword]?.(value) === true) fitted[keyword] = value;
    else if (!untold.has(keyword)) told.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  const description = [stringOf(schema["description"]), told.length === 0 ? "" : `{${told.join(", ")}}`];
  const text = description.filter((one) => one !== "").join("\n\n");
  return {
    ...fitted,
    ...(text === "" ? {} : { description: text }),
    ...(isObject(schema) ? { additionalProperties: false } : {}),
  };
}

function isObject({ type, properties }: JsonObject): boolean {
  return type === "object" || listOf(type).includes("object") || (type === undefined && properties !== undefined);
}

function fitInner(schema: unknown): unknown {
  const inner = objectOf(schema);
  return inner === undefined ? schema : fitStrictSchema(inner);
}

function mapValues(members: JsonObject, map: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]));
}

/** The schema of any other tool: an object without alternatives at the top, whose members are those of all of them. */
export function fitToolSchema(schema: JsonObject = {}): JsonObject {
  const { oneOf, anyOf, allOf, ...own } = schema;
  const base: JsonObject = own["type"] === "object" ? own : { type: "object", properties: {}, ...own };
  const variantsOf = (list: unknown): JsonObject[] => objectsOf(list).map((one) => resolved(one, schema));
  const [all, either] = [variantsOf(allOf), [...variantsOf(oneOf), ...variantsOf(anyOf)]];
  if (oneOf === undefined && anyOf === undefined && allOf === undefined) return base;
  const always = [base, ...all].flatMap(requiredOf);
  const alternatives = either.map(requiredOf);
  const common = alternatives.reduce((some, more) => some.filter((name) => more.includes(name)), alternatives[0] ?? []);
  const required = [...new Set([...always, ...common])];
  const description = [stringOf(base["description"]), toldAlternatives(alternatives)].filter((one) => one !== "");
  return {
    ...base,
    properties: joinedMembers([base, ...all, ...either]),
    ...(required.length === 0 ? {} : { required }),
    ...(description.length === 0 ? {} : { description: description.join("\n\n") }),
  };
}

/** A reference to a definition of the schema itself is that definition. */
function resolved(variant: JsonObject, schema: JsonObject): JsonObject {
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(stringOf(variant["$ref"])) ?? [];
  return place === undefined || name === undefined ? variant : (objectOf(objectOf(schema[place])?.[name]) ?? variant);
}

function requiredOf({ required }: JsonObject): string[] {
  return listOf(required).filter((name) => typeof name === "string");
}

/** A member that several of them have with different schemas fits any of those. */
function joinedMembers(schemas: readonly JsonObject[]): JsonObject {
  const found = new Map<string, unknown[]>();
  for (const { properties } of schemas) {
    for (const [name, member] of Object.entries(objectOf(properties) ?? {})) {
      const before = found.get(name) ?? [];
      if (!before.some((one) => JSON.stringify(one) === JSON.stringify(member))) found.set(name, [...before, member]);
    }
  }
  const members = [...found].map(([name, [first, ...more]]) => [
    name,
    more.length === 0 ? first : { anyOf: [first, ...more] },
  ]);
  return Object.fromEntries(members) as JsonObject;
}

function toldAlternatives(alternatives: readonly string[][]): string {
  const sets = new Set(alternatives.map((names) => names.join(", ")));
  return sets.size < 2
    ? ""
    : `Give the members of one of these sets: ${[...sets].map((set) => `(${set})`).join(" or ")}.`;
}
