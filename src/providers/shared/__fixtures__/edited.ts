import { editBytes, type JsonEdit, scanObject } from "../../../bodies/index.ts";

/** A body as the upstream gets it. */
export function edited(text: string, edits: readonly JsonEdit[]): string {
  const bytes = Buffer.from(text);
  const scan = scanObject(bytes, 100);
  if ("refused" in scan) throw new Error(scan.refused);
  return Buffer.concat(editBytes(bytes, scan.members, edits)).toString();
}
