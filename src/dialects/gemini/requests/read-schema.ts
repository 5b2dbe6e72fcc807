import { type JsonObject, objectOf } from "../../../core/index.ts";
import { inCamel } from "../camel.ts";

/** Numbers that protobuf writes as texts. */
const counts: ReadonlySet<string> = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);

/** Members that JSON Schema does not have, or has under other names. */
const others: ReadonlySet<string> = new Set(["nullable", "propertyOrdering", "example", "ref", "defs"]);

/** A schema of Google's (a part of OpenAPI's, with types in upper case) as JSON Schema. Any other value is left as it is. */
export function readSchema(schema: JsonObject): JsonObject {
  const read: Record<string, unknown> = {};
  const members = inCamel(schema);
  for (const [name, value] of Object.entries(members)) {
    if (others.has(name) || (name === "format" && value === "enum")) continue;
    if (value !== undefined && value !== null) read[name] = readMember(name, value);
  }
  if (read["type"] === "type_unspecified") delete read["type"];
  const { ref, defs, nullable } = members;
  if (typeof ref === "string") read["$ref"] = ref.replace(/^#\/defs\//, "#/$defs/");
  if (objectOf(defs) !== undefined) read["$defs"] = readEachSchema(defs);
  return nullable === true ? withNull(read) : read;
}

function readMember(name: string, value: unknown): unknown {
  switch (name) {
    case "type":
      return Array.isArray(value) ? value.map(lowerCase) : lowerCase(value);
    case "properties":
    case "$defs":
      return readEachSchema(value);
    case "items":
    case "additionalProperties":
      return readInner(value);
    case "anyOf":
    case "prefixItems":
      return Array.isArray(value) ? value.map(readInner) : value;
    default:
      return counts.has(name) && typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  }
}

const lowerCase = (type: unknown): unknown => (typeof type === "string" ? type.toLowerCase() : type);

function readInner(value: unknown): unknown {
  const schema = objectOf(value);
  return schema === undefined ? value : readSchema(schema);
}

function readEachSchema(value: unknown): unknown {
  const schemas = objectOf(value);
  if (schemas === undefined) return value;
  return Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, readInner(one)]));
}

function withNull(schema: Record<string, unknown>): JsonObject {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) schema["anyOf"] = [...(anyOf as readonly unknown[]), { type: "null" }];
  if (typeof type === "string") schema["type"] = [type, "null"];
  if (Array.isArray(values)) schema["enum"] = [...(values as readonly unknown[]), null];
  return schema;
}
