import { isStorableId, limits, type StoredObject } from "../../../core/index.ts";
import type { ObjectOwner } from "../store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 10_000;

/** A row of `stored_objects` from either engine. */
export interface OwnerRow {
  kind: StoredObject["kind"];
  id: string;
  owner: string;
  key_id: string;
}

export function toObjectOwner({ kind, id, owner, key_id: keyId }: OwnerRow): ObjectOwner {
  return { kind, id, owner, keyId };
}

/** Ids that can be stored. */
export function storable(objects: readonly StoredObject[]): StoredObject[] {
  return objects.filter(({ id }) => isStorableId(id)).slice(0, limits.createdObjectsMax);
}

/**
 * The statements. The engines differ in the names of parameters, and in how they receive a list: `pairs` are rows with
 * `kind` and `id`, `ids` is a list of ids.
 */
export function statementsWith(parameter: (index: number) => string, { pairs, ids }: { pairs: string; ids: string }) {
  const [first, second, third, fourth] = [1, 2, 3, 4].map(parameter);
  return {
    put: `INSERT INTO stored_objects (kind, id, provider, owner, key_id, kept_until)
      SELECT kind, id, ${first}, ${second}, ${third}, ${fourth} FROM ${pairs} WHERE true
      ON CONFLICT (id, provider, kind, owner) DO UPDATE SET key_id = excluded.key_id, kept_until = excluded.kept_until
      WHERE stored_objects.bytes IS NULL`,
    find: `SELECT kind, id, owner, key_id FROM stored_objects
      WHERE provider = ${first} AND kept_until > ${second} AND id IN (${ids})`,
    deleteExpired: `DELETE FROM stored_objects WHERE (id, provider, kind, owner) IN (
      SELECT id, provider, kind, owner FROM stored_objects WHERE kept_until <= ${first} ORDER BY kept_until
      LIMIT ${DELETED_MAX})`,
  };
}
