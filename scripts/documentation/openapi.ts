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

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface MediaType {
  schema?: Schema;
}

interface Header {
  $ref?: string;
  description?: string;
}

export interface Answer {
  description: string;
  headers?: Readonly<Record<string, Header>>;
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
  components: { schemas: Readonly<Record<string, Schema>>; headers?: Readonly<Record<string, Header>> };
}

export interface Operation extends OperationObject {
  method: string;
  path: string;
}

const methods = ["get", "post", "put", "patch", "delete"] as const;

/** All operations, in the order of the document. */
export function operationsOf({ paths }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ ...operation, method, path }];
    }),
  );
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
