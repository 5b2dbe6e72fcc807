/**
 * Definitions of tools as all clients take them. The official ones reject a whole list for one wrong member, so that a server
 * could take the tools of all others away.
 */
import { type JsonObject, objectOf } from "../core/index.ts";
import { withSafeIcons } from "./icons.ts";

/** JSON of the `_meta` of a tool, such as the address of its user interface (`ui://`). */
const META_CHARACTERS_MAX = 16 * 1024;

const annotationTypes: readonly (readonly [string, string])[] = [
  ["title", "string"],
  ["readOnlyHint", "boolean"],
  ["destructiveHint", "boolean"],
  ["idempotentHint", "boolean"],
  ["openWorldHint", "boolean"],
];

/** Undefined if it does not describe an object. A schema without any type is that of one. */
export function validInputSchema(given: unknown): JsonObject | undefined {
  const schema = objectOf(given);
  const { type = "object", properties = {}, required = [] } = schema ?? {};
  const isList = Array.isArray(required) && required.every((each) => typeof each === "string");
  const isValid = type === "object" && objectOf(properties) !== undefined && isList;
  return schema === undefined || !isValid ? undefined : { ...schema, type };
}

/** Whether it is called as a task of revision 2025-11-25 alone, of which neither the gateway nor later revisions have any. */
export function needsOldTask({ execution }: JsonObject): boolean {
  return objectOf(execution)?.["taskSupport"] === "required";
}

/** The members besides the schema, without those that clients would not take. */
export function validDefinition(given: JsonObject): JsonObject {
  const { execution: _execution, ...rest } = withSafeIcons(given);
  const { title, description, annotations, outputSchema, _meta: meta, ...others } = rest;
  const output = objectOf(outputSchema);
  return {
    ...others,
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...(objectOf(annotations) && { annotations: validAnnotations(objectOf(annotations) ?? {}) }),
    // Those of 2025 take only that of an object.
    ...(output?.["type"] === "object" && { outputSchema: output }),
    ...(isShort(objectOf(meta)) && { _meta: meta }),
  };
}

function isShort(meta: JsonObject | undefined): boolean {
  return meta !== undefined && JSON.stringify(meta).length <= META_CHARACTERS_MAX;
}

function validAnnotations(given: JsonObject): JsonObject {
  return Object.fromEntries(
    annotationTypes.flatMap(([name, type]) => (typeof given[name] === type ? [[name, given[name]]] : [])),
  );
}
