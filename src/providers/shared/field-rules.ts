import type { JsonEdit, JsonObject } from "../../core/index.ts";

/** OpenAI's fields of one operation, as another upstream has them. */
export interface FieldRules {
  /** Fields that it refuses and that change nothing by their absence. */
  drops: readonly string[];
  /** Fields that it knows by another name. */
  renames: Readonly<Record<string, string>>;
}

/** The edits that make a body of OpenAI's fit. */
export function dropAndRename(body: JsonObject, { drops, renames }: FieldRules): JsonEdit[] {
  const dropped = drops.filter((key) => key in body).map((key): JsonEdit => ({ remove: key }));
  const renamed = Object.entries(renames).flatMap(([key, to]) => rename(body, key, to));
  return [...dropped, ...renamed];
}

/** Where both names are there, OpenAI's has the say: it is the one that the cost was bounded by. */
function rename(body: JsonObject, key: string, to: string): JsonEdit[] {
  if (!(key in body)) return [];
  return to in body ? [{ remove: to }, { rename: key, to }] : [{ rename: key, to }];
}
