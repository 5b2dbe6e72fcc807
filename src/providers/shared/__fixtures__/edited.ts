import { editBytes, type JsonEdit, scanObject } from "../../../bodies/index.ts";

/** Applies edits to a body and returns the body for the upstream. */
export function edited(text: string, edits: readonly JsonEdit[]): string {
  const bytes = Buffer.from(text);
  const scan = scanObject(bytes, { depthMax: 100, membersMax: 100, valuesMax: 1_000, keysMax: 1_000, bareBytesMax: 1_000 });
  if ("refused" in scan) throw new Error(scan.refused);
  return Buffer.concat(editBytes(bytes, scan.members, edits)).toString();
}
