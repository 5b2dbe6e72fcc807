import { type ObjectReference, ReferenceList } from "../../core/index.ts";

/** A stored file, which Mistral accepts in place of an uploaded one. */
export function transcriptionReferences(form: Readonly<Record<string, unknown>>): readonly ObjectReference[] {
  const list = new ReferenceList();
  list.add("file", form["file_id"], "file_id");
  return list.all;
}
