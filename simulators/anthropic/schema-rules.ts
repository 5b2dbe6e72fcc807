import type { Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, isObject, type JsonObject } from "../shared/json.ts";
import { first } from "../shared/shape.ts";

/** Keywords that answers and strict tools cannot be held to, with the values that are taken nevertheless. */
const refusedKeywords: { readonly [keyword: string]: readonly unknown[] } = {
  minimum: [],
  maximum: [],
  exclusiveMinimum: [],
  exclusiveMaximum: [],
  multipleOf: [],
  minLength: [],
  maxLength: [],
  pattern: [],
  minItems: [0, 1],
  maxItems: [],
  uniqueItems: [],
  oneOf: [],
  patternProperties: [],
  minProperties: [],
  maxProperties: [],
};

const alternatives = ["oneOf", "anyOf", "allOf"];

function refusal(field: string, message: string): Problem {
  return { kind: "bad-value", field, message, value: null };
}

/** The schemas of the answer and of tools. */
export function checkSchemas(body: JsonObject): Problem | null {
  const format = asObject(asObject(body["output_config"])["format"]);
  return (
    checkStrict(format["schema"], "output_config.format.schema") ?? first(asArray(body["tools"]).entries(), checkTool)
  );
}

function checkTool([index, tool]: [number, unknown]): Problem | null {
  const { input_schema: schema, strict } = asObject(tool);
  const field = `tools[${index}].input_schema`;
  return checkTop(schema, field) ?? (strict === true ? checkStrict(schema, field) : null);
}

/** On either endpoint. */
export function checkTop(schema: unknown, field: string): Problem | null {
  const found = alternatives.some((keyword) => isGiven(asObject(schema)[keyword]));
  return found ? refusal(field, "input_schema does not support oneOf, allOf, or anyOf at the top level") : null;
}

function checkStrict(schema: unknown, field: string): Problem | null {
  if (!isObject(schema)) return null;
  const keyword = Object.keys(schema).find((name) => {
    const taken = Object.hasOwn(refusedKeywords, name) ? refusedKeywords[name] : undefined;
    return taken !== undefined && !taken.includes(schema[name]);
  });
  if (keyword !== undefined)
    return refusal(field, `For '${String(schema["type"])}' type, property '${keyword}' is not supported`);
  const isClosed = schema["type"] !== "object" || schema["additionalProperties"] === false;
  if (!isClosed) return refusal(field, "For 'object' type, 'additionalProperties' must be explicitly set to false");
  const named = [schema["properties"], schema["$defs"]].flatMap((members) => Object.entries(asObject(members)));
  const listed = alternatives.flatMap((name) => asArray(schema[name]));
  return (
    first(named, ([name, inner]) => checkStrict(inner, `${field}.${name}`)) ??
    first([...listed, schema["items"]], (inner) => checkStrict(inner, field))
  );
}
