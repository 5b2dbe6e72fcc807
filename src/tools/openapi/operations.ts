/** The operations of an OpenAPI document (3.x) as tools. References within the document become `$defs`; no other is followed. */
import { type JsonObject, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import { takenName } from "../tool-names.ts";

const METHODS = [
  ["get", "GET"],
  ["put", "PUT"],
  ["post", "POST"],
  ["delete", "DELETE"],
  ["patch", "PATCH"],
] as const;

const OPERATIONS_MAX = 2_000;
const DESCRIPTION_CHARACTERS_MAX = 4_000;
const COMPONENT = "#/components/schemas/";

/** A parameter, by its place in the request. */
interface OperationParameter {
  /** Among the arguments of the tool. */
  argument: string;
  name: string;
  place: "path" | "query" | "header";
}

export interface ApiOperation {
  definition: JsonObject;
  method: (typeof METHODS)[number][1];
  path: string;
  parameters: readonly OperationParameter[];
  /** The type of the body, which is the argument `body`; undefined if there is none. */
  bodyType: "application/json" | "application/x-www-form-urlencoded" | undefined;
}

/** Headers that are not the caller's to set. */
const OWN_HEADERS = /^(?:authorization|cookie|host|content-.*|connection|transfer-encoding|x-forwarded-.*|proxy-.*)$/i;

/** By the names of their tools. Operations whose bodies are neither JSON nor a plain form are left out. */
export function operationsOf(document: JsonObject): Map<string, ApiOperation> {
  const operations = new Map<string, ApiOperation>();
  const components = new Components(document, countOf(document));
  for (const [path, given] of Object.entries(objectOf(document["paths"]) ?? {})) {
    const item = objectOf(given);
    if (item === undefined || !path.startsWith("/")) continue;
    for (const [key, method] of METHODS) {
      const operation = objectOf(item[key]);
      if (operation === undefined || operations.size >= OPERATIONS_MAX) continue;
      const name = takenName(stringOf(operation["operationId"]) || `${key}${path.replaceAll(/[^A-Za-z0-9]+/g, "_")}`);
      const read = readOperation({ document, components }, { name, method, path, item, operation });
      if (read !== undefined && !operations.has(name)) operations.set(name, read);
    }
  }
  return operations;
}

interface Place {
  name: string;
  method: ApiOperation["method"];
  path: string;
  item: JsonObject;
  operation: JsonObject;
}

interface Source {
  document: JsonObject;
  components: Components;
}

function countOf(document: JsonObject): number {
  const items = Object.values(objectOf(document["paths"]) ?? {}).map((item) => objectOf(item) ?? {});
  return items.reduce((sum, item) => sum + METHODS.filter(([key]) => objectOf(item[key]) !== undefined).length, 0);
}

function readOperation(
  { document, components }: Source,
  { name, method, path, item, operation }: Place,
): ApiOperation | undefined {
  const body = bodyOf(document, operation);
  if (body === "unknown") return undefined;
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  const parameters: OperationParameter[] = [];
  for (const { name: key, in: location, schema, description, required: isRequired } of parametersOf(
    document,
    item,
    operation,
  )) {
    const place = location === "path" || location === "query" || location === "header" ? location : undefined;
    if (place === undefined || typeof key !== "string" || (place === "header" && OWN_HEADERS.test(key))) continue;
    const argument = key in properties || key === "body" ? `${place}_${key}` : key;
    parameters.push({ argument, name: key, place });
    properties[argument] = { ...objectOf(schema), ...(typeof description === "string" && { description }) };
    if (isRequired === true || place === "path") required.push(argument);
  }
  if (body !== undefined) {
    properties["body"] = body.schema;
    if (body.isRequired) required.push("body");
  }
  const inputSchema = components.of({ type: "object", properties, required });
  const { summary, description } = operation;
  const text = [summary, description]
    .map(stringOf)
    .filter((each) => each !== "")
    .join("\n\n");
  const definition = {
    name,
    description: (text || `${method} ${path}`).slice(0, DESCRIPTION_CHARACTERS_MAX),
    inputSchema,
    annotations: { readOnlyHint: method === "GET", destructiveHint: method === "DELETE" },
  };
  return { definition, method, path, parameters, bodyType: body?.type };
}

/** Those of the path and of the operation, which replaces them. */
function parametersOf(document: JsonObject, item: JsonObject, operation: JsonObject): JsonObject[] {
  const byKey = new Map<string, JsonObject>();
  for (const given of [...objectsOf(item["parameters"]), ...objectsOf(operation["parameters"])]) {
    const parameter = resolved(document, given);
    byKey.set(`${String(parameter["in"])} ${String(parameter["name"])}`, parameter);
  }
  return [...byKey.values()];
}

interface Body {
  type: NonNullable<ApiOperation["bodyType"]>;
  schema: JsonObject;
  isRequired: boolean;
}

function bodyOf(document: JsonObject, operation: JsonObject): Body | "unknown" | undefined {
  const given = objectOf(operation["requestBody"]);
  if (given === undefined) return undefined;
  const body = resolved(document, given);
  const content = objectOf(body["content"]) ?? {};
  for (const type of ["application/json", "application/x-www-form-urlencoded"] as const) {
    const media = objectOf(content[type]);
    if (media !== undefined)
      return { type, schema: objectOf(media["schema"]) ?? {}, isRequired: body["required"] === true };
  }
  return body["required"] === true ? "unknown" : undefined;
}

/** The component that a reference leads to, one step: a parameter or a body. */
function resolved(document: JsonObject, given: JsonObject): JsonObject {
  const reference = stringOf(given["$ref"]);
  if (!reference.startsWith("#/")) return given;
  let found: unknown = document;
  for (const key of reference.slice(2).split("/")) {
    const object = objectOf(found);
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    found = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
  }
  return objectOf(found) ?? {};
}

/** Characters of the schemas that all operations refer to, and of one, since each operation has copies of them. */
const DEFINITIONS_CHARACTERS_MAX = 3 * 1024 * 1024;
const OPERATION_CHARACTERS_MAX = 64 * 1024;

/** A component with its references changed, and the components that it refers to. */
interface Component {
  schema: unknown;
  references: ReadonlySet<string>;
  characters: number;
}

/** The components of a document, for the schemas that refer to them. */
class Components {
  readonly #given: JsonObject;
  readonly #charactersMax: number;
  readonly #read = new Map<string, Component>();

  /** `operations`: how many share the room. */
  constructor(document: JsonObject, operations: number) {
    this.#given = objectOf(objectOf(document["components"])?.["schemas"]) ?? {};
    this.#charactersMax = Math.min(OPERATION_CHARACTERS_MAX, DEFINITIONS_CHARACTERS_MAX / Math.max(operations, 1));
  }

  /** The schema with those that it refers to, the nearest first; those that there is no room for are anything. */
  of(schema: JsonObject): JsonObject {
    const wanted = new Set<string>();
    const shown = withoutForeign(schema, wanted);
    const definitions: Record<string, unknown> = {};
    let left = this.#charactersMax;
    // The set grows while it is read.
    for (const name of wanted) {
      const component = this.#component(name);
      left -= component.characters;
      definitions[name] = left < 0 ? {} : component.schema;
      if (left >= 0) for (const reference of component.references) wanted.add(reference);
    }
    return { ...objectOf(shown), ...(wanted.size > 0 && { $defs: definitions }) };
  }

  #component(name: string): Component {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const references = new Set<string>();
    const schema = Object.hasOwn(this.#given, name) ? withoutForeign(this.#given[name], references) : {};
    const component = { schema, references, characters: JSON.stringify(schema).length };
    this.#read.set(name, component);
    return component;
  }
}

/** References to components lead to `$defs`, and are noted; of any other, nothing is left. */
function withoutForeign(value: unknown, wanted: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutForeign(each, wanted));
  const object = objectOf(value);
  if (object === undefined) return value;
  const { $ref: reference, ...rest } = object;
  const members = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, withoutForeign(each, wanted)]));
  if (typeof reference !== "string" || !reference.startsWith(COMPONENT)) return members;
  const name = reference.slice(COMPONENT.length);
  wanted.add(name);
  return { ...members, $ref: `#/$defs/${name}` };
}
