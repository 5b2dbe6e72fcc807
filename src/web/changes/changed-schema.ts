import { type JsonObject, objectOf } from "../../core/index.ts";

/** Objects within objects whose members are told apart; deeper ones are compared as a whole. */
const DEPTH_MAX = 10;

/** Without a schema, the model names the members. */
const anyMembers: JsonObject = {
  type: "object",
  additionalProperties: {
    type: "object",
    properties: { previous: {}, current: {} },
    required: ["previous", "current"],
  },
};

/** The schema of an object with the same members, each of which is a pair: the value before, and the value now. */
export function changedSchema(schema: Readonly<JsonObject> | undefined): JsonObject {
  if (schema === undefined || objectOf(schema["properties"]) === undefined) return anyMembers;
  const { $defs, definitions } = schema;
  const shared = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  return { ...pairs(schema, 0), ...shared };
}

function pairs(schema: unknown, depth: number): JsonObject {
  const properties = objectOf(objectOf(schema)?.["properties"]);
  if (properties === undefined || depth >= DEPTH_MAX) {
    const value = { anyOf: [schema, { type: "null" }] };
    return objectWith({ previous: value, current: value });
  }
  const members = Object.entries(properties).map(([name, member]) => [name, pairs(member, depth + 1)] as const);
  return objectWith(Object.fromEntries(members));
}

function objectWith(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}
