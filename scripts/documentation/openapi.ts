/** The parts of the OpenAPI document that its pages show. */

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  title?: string;
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema?: Schema;
}

export interface MediaType {
  schema?: Schema;
}

export interface Answer {
  description: string;
  content?: Readonly<Record<string, MediaType>>;
}

interface OperationObject {
  operationId: string;
  tags: readonly [string];
  summary: string;
  description?: string;
  security?: readonly object[];
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content: Readonly<Record<string, MediaType>> };
  responses: Readonly<Record<string, Answer>>;
}

export interface ApiDocument {
  info: { title: string; version: string };
  paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
}

export interface Operation extends OperationObject {
  method: string;
  path: string;
}

const methods = ["get", "post", "put", "patch", "delete"] as const;

/** All operations by their tag, in the order of the document. */
export function operationsByTag({ paths }: ApiDocument): Map<string, Operation[]> {
  const found = new Map<string, Operation[]>();
  for (const [path, item] of Object.entries(paths)) {
    for (const method of methods) {
      const operation = item[method];
      if (operation === undefined) continue;
      const [tag] = operation.tags;
      found.set(tag, [...(found.get(tag) ?? []), { ...operation, method, path }]);
    }
  }
  return found;
}

/** The name behind a reference, such as `Error`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** The schema itself, behind references. */
export function resolved(schema: Schema, { components }: ApiDocument): Schema {
  if (schema.$ref === undefined) return schema;
  const target = components.schemas[nameOf(schema.$ref)];
  if (target === undefined) throw new Error(`the document has no schema ${schema.$ref}`);
  return target;
}
