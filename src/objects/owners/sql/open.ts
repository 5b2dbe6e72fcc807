import { objectKinds } from "../../../core/index.ts";
import {
  column,
  perEngine,
  runnerOf,
  sql,
  type SqliteRunner,
  type SqlRunner,
  type Statement,
  type Storage,
  tableOf,
  textsIn,
} from "../../../storage/index.ts";
import type { FileKey, FileStore, UploadPlace } from "../file-store.ts";
import type { ItemMaker, ObjectOwner, ObjectOwnerStore } from "../store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 10_000;

const { text, oneOf } = column;

const owners = tableOf<ObjectOwner>({
  kind: oneOf(objectKinds),
  id: text,
  provider: text,
  owner: text,
  keyId: text,
});
const makers = tableOf<ItemMaker>({ id: text, provider: text });
const files = tableOf<FileKey>({ id: text, keyId: text });

/** The `kept_until` of a file that its upstream never deletes. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** Around a list of objects, as JSON. */
const OBJECTS = perEngine({
  sqlite: "SELECT DISTINCT value ->> 'kind' AS kind, value ->> 'id' AS id FROM json_each(",
  postgres: "SELECT DISTINCT given ->> 'kind' AS kind, given ->> 'id' AS id FROM json_array_elements(",
});
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
    find: (providers, ids, at) =>
      runner.rows(
        sql`SELECT ${owners.names} FROM stored_objects
          WHERE provider IN (${textsIn(providers)}) AND kept_until > ${at} AND id IN (${textsIn(ids)})`,
        owners.read,
      ),
    makersOf: (ids, owner, at) =>
      runner.rows(
        sql`SELECT ${makers.names} FROM stored_objects
          WHERE id IN (${textsIn(ids)}) AND owner = ${owner} AND kind = 'item' AND kept_until > ${at}`,
        makers.read,
      ),
    deleteExpired: (at) =>
      runner.run(sql`DELETE FROM stored_objects WHERE (id, provider, kind, owner) IN (
        SELECT id, provider, kind, owner FROM stored_objects WHERE kept_until <= ${at} ORDER BY kept_until
        LIMIT ${DELETED_MAX})`),
  };
}

/** The store of uploaded files for the storage's engine. */
export function openFileStore(storage: Storage): FileStore {
  const runner = runnerOf(storage);
  return {
    ...(storage.engine === "sqlite" ? sqliteUploads(runnerOf(storage)) : postgresUploads(runner)),
    cancel: (place) => runner.run(without(place)),
    filesOf: (provider, owner, at) =>
      runner.rows(
        sql`SELECT ${files.names} FROM stored_objects
          WHERE owner = ${owner} AND provider = ${provider} AND kind = 'file' AND bytes IS NOT NULL AND kept_until > ${at}`,
        files.read,
      ),
    remove: (provider, id) =>
      runner.run(sql`DELETE FROM stored_objects WHERE id = ${id} AND provider = ${provider} AND kind = 'file'`),
  };
}

type Uploads = Pick<FileStore, "reserve" | "record">;

function sqliteUploads(runner: SqliteRunner): Uploads {
  return {
    // One statement: SQLite locks the database before it reads.
    reserve: ({ id, provider, owner, bytes, until }, { filesMax, bytesMax }, at) =>
      runner.hasRows(sql`INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until, bytes)
        SELECT ${id}, ${provider}, 'upload', ${owner}, '', ${until}, ${bytes} FROM (
          SELECT count(*) AS files, coalesce(sum(bytes), 0) AS used FROM stored_objects
          WHERE owner = ${owner} AND bytes IS NOT NULL AND kept_until > ${at}
        ) WHERE files < ${filesMax} AND used + ${bytes} <= ${bytesMax} RETURNING id`),
    record: (place, { id, provider, owner, keyId, bytes, expiresAt = NEVER }, at) =>
      runner.transaction((transaction) => {
        transaction.run(without(place));
        return transaction.hasRows(sql`INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until, bytes)
          SELECT ${id}, ${provider}, 'file', ${owner}, ${keyId}, ${expiresAt}, ${bytes}
          WHERE NOT EXISTS (SELECT 1 FROM stored_objects
            WHERE id = ${id} AND provider = ${provider} AND kind = 'file' AND owner <> ${owner} AND kept_until > ${at})
          ON CONFLICT (id, provider, kind, owner)
          DO UPDATE SET key_id = excluded.key_id, kept_until = excluded.kept_until, bytes = excluded.bytes RETURNING id`);
      }),
  };
}

/** By functions of the schema. */
function postgresUploads(runner: SqlRunner): Uploads {
  return {
    reserve: ({ id, provider, owner, bytes, until }, { filesMax, bytesMax }, at) =>
      runner.hasRows(sql`SELECT 1 WHERE reserve_upload(${id}, ${provider}, ${owner}, ${bytes}, ${until}, ${at},
        ${filesMax}, ${bytesMax})`),
    record: (place, { id, provider, owner, keyId, bytes, expiresAt = NEVER }, at) =>
      runner.hasRows(sql`SELECT 1 WHERE record_upload(${place.id}, ${id}, ${provider}, ${owner}, ${keyId}, ${bytes},
        ${expiresAt}, ${at})`),
  };
}

const without = ({ id, provider, owner }: UploadPlace): Statement => sql`DELETE FROM stored_objects
  WHERE id = ${id} AND provider = ${provider} AND kind = 'upload' AND owner = ${owner}`;
