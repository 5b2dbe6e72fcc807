import { objectKinds } from "../../../core/index.ts";
import { column, perEngine, retryLocked, runnerOf, sql, type Storage, tableOf } from "../../../storage/index.ts";
import type { FileStore } from "../file-store.ts";
import type { ObjectOwner, ObjectOwnerStore } from "../store.ts";
import { PostgresFileStore } from "./postgres-files.ts";
import { SqliteFileStore } from "./sqlite-files.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 10_000;

const { text, oneOf } = column;

const owners = tableOf<ObjectOwner>({ kind: oneOf(objectKinds), id: text, owner: text, keyId: text });

/** Around a list of ids, and of objects, as JSON. */
const IDS = perEngine({ sqlite: "SELECT value FROM json_each(", postgres: "SELECT json_array_elements_text(" });
const OBJECTS = perEngine({
  sqlite: "SELECT DISTINCT value ->> 'kind' AS kind, value ->> 'id' AS id FROM json_each(",
  postgres: "SELECT DISTINCT given ->> 'kind' AS kind, given ->> 'id' AS id FROM json_array_elements(",
});
const LIST_END = perEngine({ sqlite: ")", postgres: "::text::json)" });
const OBJECTS_END = perEngine({ sqlite: ")", postgres: "::text::json) AS given" });

/** Postgres refuses a lone surrogate. */
const jsonOf = (value: readonly unknown[]): string =>
  JSON.stringify(value, (_key, member: unknown) => (typeof member === "string" ? member.toWellFormed() : member));

export function openObjectOwnerStore(storage: Storage): ObjectOwnerStore {
  const runner = runnerOf(storage);
  return {
    put: ({ objects, provider, owner, keyId, expiresAt }) =>
      runner.run(sql`INSERT INTO stored_objects (kind, id, provider, owner, key_id, kept_until)
        SELECT kind, id, ${provider}, ${owner}, ${keyId}, ${expiresAt}
        FROM (${OBJECTS}${jsonOf(objects)}${OBJECTS_END}) AS objects WHERE true
        ON CONFLICT (id, provider, kind, owner) DO UPDATE SET key_id = excluded.key_id, kept_until = excluded.kept_until
        WHERE stored_objects.bytes IS NULL`),
    find: (provider, ids, at) =>
      runner.rows(
        sql`SELECT ${owners.names} FROM stored_objects
          WHERE provider = ${provider} AND kept_until > ${at} AND id IN (${IDS}${jsonOf(ids)}${LIST_END})`,
        owners.read,
      ),
    deleteExpired: (at) =>
      runner.run(sql`DELETE FROM stored_objects WHERE (id, provider, kind, owner) IN (
        SELECT id, provider, kind, owner FROM stored_objects WHERE kept_until <= ${at} ORDER BY kept_until
        LIMIT ${DELETED_MAX})`),
  };
}

/** The store of uploaded files for the storage's engine. */
export function openFileStore(storage: Storage): FileStore {
  return storage.engine === "sqlite"
    ? retryLocked(new SqliteFileStore(storage.handle))
    : new PostgresFileStore(storage.statements);
}
