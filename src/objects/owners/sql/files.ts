import type { FileKey } from "../file-store.ts";

/** The `kept_until` of a file that its upstream never deletes. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** A row of an uploaded file from either engine. */
export interface FileRow {
  id: string;
  key_id: string;
}

export function toFileKey({ id, key_id: keyId }: FileRow): FileKey {
  return { id, keyId };
}

/** The statements that are the same on both engines but for the names of parameters. */
export function fileStatementsWith(parameter: (index: number) => string) {
  const [first, second, third] = [1, 2, 3].map(parameter);
  return {
    cancel: `DELETE FROM stored_objects
      WHERE id = ${first} AND provider = ${second} AND kind = 'upload' AND owner = ${third}`,
    filesOf: `SELECT id, key_id FROM stored_objects
      WHERE owner = ${first} AND provider = ${second} AND kind = 'file' AND bytes IS NOT NULL AND kept_until > ${third}`,
    remove: `DELETE FROM stored_objects WHERE id = ${first} AND provider = ${second} AND kind = 'file'`,
  };
}
