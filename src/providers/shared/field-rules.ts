import type { JsonEdit } from "../../bodies/index.ts";
import type { JsonObject } from "../../core/index.ts";

/** How another upstream differs in OpenAI's fields of one operation. */
export interface FieldRules {
  /** Fields that it refuses and that can be omitted without an effect. */
  drops: readonly string[];
  /** Fields that it knows by another name. */
  renames: Readonly<Record<string, string>>;
}

/** The edits that adapt a body in OpenAI's format. */
export function dropAndRename(body: JsonObject, { drops, renames }: FieldRules): JsonEdit[] {
  const edits: JsonEdit[] = [];
  for (const key of drops) if (key in body) edits.push({ remove: key });
  for (const key in renames) {
    const newName = renames[key];
    if (newName === undefined || !(key in body)) continue;
    // If both names are present, the value of OpenAI's name is used, because the cost was bounded by it.
    if (newName in body) edits.push({ remove: newName });
    edits.push({ rename: key, to: newName });
  }
  return edits;
}
