import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";

/** The owner of a schema: the file `test/schemas/<owner>.json`. */
export type SchemaOwner = "openai" | "anthropic";

const loaded = new Map<SchemaOwner, Ajv2020>();

/** All violations of the schema with this name; an empty string if there are none. */
export function errorsBy(owner: SchemaOwner, schema: string, value: unknown): string {
  const ajv = loaded.get(owner) ?? load(owner);
  const validate = ajv.getSchema(`${owner}#/components/schemas/${schema}`);
  if (validate === undefined)
    throw new Error(`test/schemas/${owner}.json lacks ${schema}: name it in scripts/schemas/roots.ts`);
  return validate(value) === true ? "" : `${ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 500)}`;
}

/** The names of a request's own fields, by the schema of this name. */
export function fieldsBy(owner: SchemaOwner, schema: string): string[] {
  const schemas = (readDocument(owner) as { components: { schemas: Record<string, SchemaObject> } }).components.schemas;
  const namesOf = (one: SchemaObject | undefined): string[] => [
    ...Object.keys(one?.properties ?? {}),
    ...(one?.allOf ?? []).flatMap((part) => namesOf(part.$ref === undefined ? part : schemas[nameOf(part.$ref)])),
  ];
  return [...new Set(namesOf(schemas[schema]))];
}

interface SchemaObject {
  $ref?: string;
  properties?: Record<string, unknown>;
  allOf?: SchemaObject[];
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

function load(owner: SchemaOwner): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false });
  ajv.addSchema({ ...withNull(readDocument(owner)), $id: owner });
  loaded.set(owner, ajv);
  return ajv;
}

function readDocument(owner: SchemaOwner): object {
  const path = join(import.meta.dir, "../../test/schemas", `${owner}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as object;
}

/**
 * Replaces `nullable`, which the documents' version of OpenAPI no longer has, by its meaning, and a discriminated
 * choice by the chosen schema: a message without an id matches more than one of its schemas.
 */
function withNull(value: unknown): object {
  if (Array.isArray(value)) return value.map((one) => (isObject(one) ? withNull(one) : (one as unknown)));
  const entries = Object.entries(value as object).map(([key, one]) => [
    key,
    isObject(one) ? withNull(one) : (one as unknown),
  ]);
  const { nullable, ...rest } = Object.fromEntries(entries) as { nullable?: unknown };
  const { discriminator, oneOf, ...others } = rest as { discriminator?: unknown; oneOf?: unknown };
  const schema = discriminator === undefined || oneOf === undefined ? rest : { ...others, anyOf: oneOf };
  return nullable === true ? { anyOf: [schema, { type: "null" }] } : schema;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
