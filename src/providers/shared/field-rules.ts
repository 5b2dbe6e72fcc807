import type { JsonEdit } from "../../bodies/index.ts";
import type { JsonObject } from "../../core/index.ts";

/** OpenAI's fields of one operation, as another upstream has them. */
export interface FieldRules {
  /** Fields that it refuses and that change nothing by their absence. */
  drops: readonly string[];
  /** Fields that it knows by another name. */
  renames: Readonly<Record<string, string>>;
}

/** The edits that make a body of OpenAI's fit. */
export function dropAndRename(body: JsonObject, { drops, renames }: FieldRules): JsonEdit[] {
  const edits: JsonEdit[] = [];
  for (const key of drops) if (key in body) edits.push({ remove: key });
  for (const key in renames) {
    const to = renames[key];
    if (to === undefined || !(key in body)) continue;
    // Where both names are there, OpenAI's has the say: it is the one that the cost was bounded by.
    if (to in body) edits.push({ remove: to });
    edits.push({ rename: key, to });
  }
  return edits;
}
