/** The JSON Schema of a tool's arguments, from the contract of its route. */
import { z } from "zod";
import { type JsonObject, keysOf, listOf, objectOf } from "../../../core/index.ts";
import type { OwnTool } from "./own-tool.ts";

/** Descriptions of members without effect: agents get none of these. */
const USELESS: ReadonlySet<unknown> = new Set(["Ignored.", "Not supported."]);

/** Formats of a page that programs use: they would be a fifth of all definitions. */
const RARE_FORMATS: ReadonlySet<unknown> = new Set(["attributes", "changeTracking"]);

/** `hasDefaultModel`: the call need not name one. */
export function inputSchema(
  { input, shown, shownOptions, members = {}, required = [], model }: OwnTool,
  hasDefaultModel: boolean,
): JsonObject {
  const whole = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const schema = objectOf(simplified(whole, objectOf(whole.$defs) ?? {})) ?? {};
  const route = { ...objectOf(schema["properties"]), ...members };
  const names = shown ?? Object.keys(route);
  const properties = picked(route, names);
  const options = objectOf(properties["scrapeOptions"]);
  if (options !== undefined && shownOptions !== undefined) {
    const kept = picked(objectOf(options["properties"]) ?? {}, shownOptions);
    properties["scrapeOptions"] = { ...options, properties: kept };
  }
  const needed = [...listOf(schema["required"]), ...required].filter(
    (name) =>
      typeof name === "string" && name in properties && !(name === "model" && model !== undefined && hasDefaultModel),
  );
  return { type: "object", properties, ...(needed.length > 0 && { required: needed }) };
}

function picked(members: JsonObject, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (name in members ? [[name, members[name]]] : [])));
}

/** Without references, without `null` for optional members, and without details that only the gateway needs. */
function simplified(value: unknown, definitions: JsonObject): unknown {
  if (Array.isArray(value)) return value.map((each) => simplified(each, definitions));
  const schema = objectOf(value);
  if (schema === undefined) return value;
  const { $ref, ...own } = schema;
  if (typeof $ref === "string") {
    const target = objectOf(definitions[$ref.slice("#/$defs/".length)]);
    return simplified({ ...target, ...own }, definitions);
  }
  const read: Record<string, unknown> = {};
  for (const key of keysOf(schema)) {
    const member = schema[key];
    if (key === "properties") read[key] = simplifiedMembers(objectOf(member) ?? {}, definitions);
    else if (key === "anyOf") Object.assign(read, alternatives(listOf(member), definitions));
    else if (key === "type" && Array.isArray(member)) Object.assign(read, typesOf(member));
    else if (!isNoise(key, member)) read[key] = simplified(member, definitions);
  }
  return read;
}

function simplifiedMembers(properties: JsonObject, definitions: JsonObject): JsonObject {
  const kept = Object.entries(properties).filter(([, member]) => !USELESS.has(objectOf(member)?.["description"]));
  return Object.fromEntries(kept.map(([name, member]) => [name, simplified(member, definitions)]));
}

/** Bounds that no agent reaches by accident, and the origin of the schema. */
function isNoise(key: string, value: unknown): boolean {
  if (key === "additionalProperties" || key === "pattern" || key === "propertyNames") return true;
  return key.startsWith("$") || key === "id" || value === Number.MAX_SAFE_INTEGER;
}

function alternatives(options: readonly unknown[], definitions: JsonObject): JsonObject {
  const kept = options.filter((each) => {
    const { type, description, const: name, properties } = objectOf(each) ?? {};
    const format = name ?? objectOf(objectOf(properties)?.["type"])?.["const"];
    return type !== "null" && !USELESS.has(description) && !RARE_FORMATS.has(format);
  });
  const read = kept.map((each) => simplified(each, definitions));
  return read.length === 1 ? (objectOf(read[0]) ?? {}) : { anyOf: read };
}

function typesOf(types: readonly unknown[]): JsonObject {
  const kept = types.filter((each) => each !== "null");
  return { type: kept.length === 1 ? kept[0] : kept };
}
