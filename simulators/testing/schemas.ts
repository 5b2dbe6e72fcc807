import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import { asArray, asObject, isObject, type JsonObject } from "../shared/json.ts";

/** The document of the API that a value is validated against: the excerpt in `test/schemas/<owner>.json`. */
export type SchemaOwner = "openai" | "anthropic" | "firecrawl" | "google" | "mistral" | "moonshot" | "xai";

/** The violations of a named schema of a provider's document; empty if the value is valid. */
export type SchemaCheck = (schema: string, value: unknown) => string[];

/** Checks values against the schemas of one document. A schema is compiled when it is first needed. */
export function schemaCheck(owner: SchemaOwner): SchemaCheck {
  const source = readSource(owner);
  const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
  const known = new Set<string>();
  const add = (wanted: string): void => {
    if (known.has(wanted)) return;
    known.add(wanted);
    const schema = adapt(source(wanted));
    ajv.addSchema({ $id: wanted, allOf: [schema] });
    for (const reference of references(schema)) add(reference);
  };
  return (schema, value) => {
    const variant = variantFor(source, schema, value);
    add(variant);
    const validate = ajv.getSchema(variant);
    if (validate === undefined) throw new Error(`test/schemas/${owner}.json can't be compiled for ${variant}`);
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(({ instancePath, message = "" }) => `${variant}${instancePath} ${message}`);
  };
}

type SchemaSource = (name: string) => JsonObject;

function readSource(owner: SchemaOwner): SchemaSource {
  const document: unknown = JSON.parse(
    readFileSync(join(import.meta.dir, "../../test/schemas", `${owner}.json`), "utf8"),
  );
  const schemas = asObject(asObject(asObject(document)["components"])["schemas"]);
  return (name) => {
    const schema = schemas[name];
    if (schema === undefined)
      throw new Error(`test/schemas/${owner}.json has no ${name}: name it in scripts/schemas/roots.ts`);
    return asObject(schema);
  };
}

/** Of a union, the variant selected by the value's `type`, so that errors are about it only. */
function variantFor(source: SchemaSource, schema: string, value: unknown): string {
  const { anyOf, oneOf } = source(schema);
  const type = asObject(value)["type"];
  const variants = [...asArray(anyOf), ...asArray(oneOf)].flatMap(references);
  const fitting = variants.find((variant) => {
    const declared = asObject(asObject(source(variant)["properties"])["type"]);
    return declared["const"] === type || asArray(declared["enum"]).includes(type);
  });
  return type === undefined ? schema : (fitting ?? schema);
}

const prefix = "#/components/schemas/";

/** The names that a schema refers to, as they stand in the document or adapted. */
function references(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(references);
  if (!isObject(schema)) return [];
  const name = schema["$ref"];
  const own = typeof name === "string" ? [name.replace(prefix, "")] : [];
  return [...own, ...Object.values(schema).flatMap(references)];
}

/** Discriminators are ignored; `nullable` is an older way to permit null; variants may overlap. */
function adapt(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(adapt);
  if (!isObject(schema)) return schema;
  const { nullable, discriminator: _discriminator, oneOf, ...rest } = schema;
  const adapted: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(rest)) adapted[key] = adaptMember(key, value);
  if (oneOf !== undefined) adapted["allOf"] = [...asArray(adapted["allOf"]), { anyOf: adapt(oneOf) }];
  return nullable === true ? { anyOf: [adapted, { type: "null" }] } : adapted;
}

function adaptMember(key: string, value: unknown): unknown {
  // Anthropic's document requires the citations of a text; its answers leave them out (test/recordings).
  if (key === "required") return asArray(value).filter((name) => name !== "citations");
  if (key === "$ref" && typeof value === "string") return value.replace(prefix, "");
  return key === "enum" ? value : adapt(value);
}
