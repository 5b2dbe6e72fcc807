import { z } from "zod";

const documentSchema = z.object({
  openapi: z.string(),
  info: z.object({ title: z.string(), version: z.string().optional(), license: z.unknown().optional() }),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

/** The answers of an API's operations, as far as they are needed. */
const pathsSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});
const operationSchema = z.object({
  responses: z.object({
    "200": z.object({ content: z.object({ "application/json": z.object({ schema: z.unknown() }) }) }),
  }),
});

/** A document that holds nothing but schemas. */
export type SchemaDocument = z.infer<typeof documentSchema>;

const prefix = "#/components/schemas/";

/** Prose, which does not constrain a value. */
const annotations: ReadonlySet<string> = new Set(["description", "title", "example", "examples", "externalDocs"]);
/** Members whose keys are names chosen by the API, and whose values are schemas. */
const maps: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"]);
/** Members that hold values, or names of schemas, and no schema. */
const values: ReadonlySet<string> = new Set(["enum", "const", "default", "required", "discriminator"]);

/**
 * The schemas of these names with all that they refer to, without prose. A name such as `POST /search` is the schema that the
 * operation declares for its answer. Throws for a name that the document lacks.
 */
export function extractSchemas(document: unknown, names: readonly string[]): SchemaDocument {
  const { openapi, info, components } = documentSchema.parse(document);
  const found = new Map<string, unknown>();
  const wanted = [...names];
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (found.has(name)) continue;
    const schema = withoutProse(components.schemas[name] ?? answerOf(document, name));
    if (schema === undefined) throw new Error(`the document has no schema ${name}`);
    found.set(name, schema);
    wanted.push(...references(schema));
  }
  const schemas = Object.fromEntries([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return { openapi, info, components: { schemas } };
}

function answerOf(document: unknown, name: string): unknown {
  const [method = "", path = ""] = name.split(" ");
  const operation = pathsSchema.parse(document).paths[path]?.[method.toLowerCase()];
  if (operation === undefined) return undefined;
  return operationSchema.parse(operation).responses["200"].content["application/json"].schema;
}

/** As JSON text with a line per schema, so that a change of one is a change of one line. */
export function writeSchemas({ openapi, info, components }: SchemaDocument): string {
  const lines = Object.entries(components.schemas).map(
    ([name, schema]) => `${JSON.stringify(name)}: ${JSON.stringify(schema)}`,
  );
  const head = `{"openapi": ${JSON.stringify(openapi)}, "info": ${JSON.stringify(info)}, "components": {"schemas": {`;
  return `${head}\n${lines.join(",\n")}\n}}}\n`;
}

function withoutProse(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutProse);
  if (!isRecord(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => !annotations.has(key) && !key.startsWith("x-"));
  return Object.fromEntries(kept.map(([key, value]) => [key, memberWithoutProse(key, value)]));
}

function memberWithoutProse(key: string, value: unknown): unknown {
  if (values.has(key)) return value;
  if (!maps.has(key) || !isRecord(value)) return withoutProse(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, withoutProse(schema)]));
}

/** The names of the schemas that this one refers to. */
function references(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(references);
  if (!isRecord(schema)) return [];
  const name = schema["$ref"];
  const own = typeof name === "string" && name.startsWith(prefix) ? [name.slice(prefix.length)] : [];
  return [...own, ...Object.values(schema).flatMap(references)];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
