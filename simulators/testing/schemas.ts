import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import Ajv from "ajv";
import { parse } from "yaml";

import { asArray, asObject, isObject, type JsonObject } from "../shared/json.ts";

/** What a value lacks to be a named schema of a provider's document; empty where it fits. */
export type SchemaCheck = (schema: string, value: unknown) => string[];

const documentsFolder = findFolder(dirname(fileURLToPath(import.meta.url)));

/** The nearest `shared/spec` beside the repository or above it; null where there is none. */
function findFolder(from: string): string | null {
  const here = join(from, "shared", "spec");
  if (existsSync(join(here, "service-spec.md"))) return here;
  return dirname(from) === from ? null : findFolder(dirname(from));
}

/** Says why a suite is skipped; null where the document is there. */
export function missingDocument(name: string): string | null {
  if (documentsFolder !== null && existsSync(join(documentsFolder, name))) return null;
  return `shared/spec/${name} is not beside this checkout`;
}

/** The same behind the name of a suite or a test. */
export function because(missing: string | null): string {
  return missing === null ? "" : ` (skipped: ${missing})`;
}

/** Checks values against the schemas of one OpenAPI document. A schema is read when it is first needed. */
export function schemaCheck(name: string): SchemaCheck {
  const source = readSource(readFileSync(join(documentsFolder ?? "", name), "utf8"));
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
    if (validate === undefined) throw new Error(`${name} has no schema ${variant}`);
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(({ instancePath, message = "" }) => `${variant}${instancePath} ${message}`);
  };
}

type SchemaSource = (name: string) => JsonObject;

/** The schemas by name; YAML is parsed schema by schema, since the whole would take seconds. */
function readSource(text: string): SchemaSource {
  if (text.trimStart().startsWith("{")) {
    const schemas = asObject(asObject(asObject(JSON.parse(text))["components"])["schemas"]);
    return (name) => asObject(schemas[name]);
  }
  const blocks = schemaBlocks(text);
  return (name) => asObject(parse(blocks.get(name) ?? "{}"));
}

/** The text of each schema: what stands below `components`, `schemas` and its name, by indentation. */
function schemaBlocks(text: string): Map<string, string> {
  const start = text.indexOf("\n  schemas:\n", text.indexOf("\ncomponents:\n"));
  const blocks = new Map<string, string>();
  for (const block of text
    .slice(start)
    .split(/\n {4}(?=[\w.-]+:\s*\n)/)
    .slice(1)) {
    const [name = ""] = block.split(":", 1);
    const body = block.slice(block.indexOf("\n") + 1);
    // The last block runs into what follows the schemas.
    blocks.set(name, body.split(/\n {0,3}(?=\S)/, 1)[0] ?? "");
  }
  return blocks;
}

/** Of a union, the variant that the value's `type` names, so that errors tell about it alone. */
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

/** Examples and discriminators say nothing here; `nullable` is an older way to say null; variants may overlap. */
function adapt(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(adapt);
  if (!isObject(schema)) return schema;
  const { nullable, discriminator: _discriminator, example: _example, examples: _examples, oneOf, ...rest } = schema;
  const adapted: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(rest)) adapted[key] = adaptMember(key, value);
  if (oneOf !== undefined) adapted["allOf"] = [...asArray(adapted["allOf"]), { anyOf: adapt(oneOf) }];
  return nullable === true ? { anyOf: [adapted, { type: "null" }] } : adapted;
}

function adaptMember(key: string, value: unknown): unknown {
  if (key === "$ref" && typeof value === "string") return value.replace(prefix, "");
  return key === "enum" ? value : adapt(value);
}
