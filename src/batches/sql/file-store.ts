import { setImmediate } from "node:timers/promises";
import {
  column,
  firstOf,
  inOneCommit,
  LOCK,
  perEngine,
  runnerOf,
  sql,
  type SqlRunner,
  type Statement,
  type Steps,
  type Storage,
  tableOf,
} from "../../storage/index.ts";
import type { FilePage, KeptFile, KeptFileStore } from "../store.ts";

/** Files deleted at a time. */
const DELETED_MAX = 50;

/** Parts of a file deleted in one commit. */
const PARTS_MAX = 32;

/** Other writes of SQLite wait anyhow. */
const OWNER_LOCK = perEngine({
  sqlite: "SELECT ",
  postgres: "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended('tollgate batch files of ' || ",
});
const OWNER_LOCK_END = perEngine({ sqlite: "", postgres: "::text, 0))" });

const { text, integer, flag, bytes, oneOf } = column;

export const files = tableOf<KeptFile>({
  id: text,
  owner: text,
  purpose: oneOf({ batch: true, batch_output: true, message_batch: true }),
  filename: text,
  bytes: integer,
  parts: integer,
  isListed: flag,
  createdAt: integer,
  keptUntil: integer,
});

const contents = tableOf<{ content: Uint8Array }>({ content: bytes });
const sums = tableOf<{ total: number }>({ total: integer });
const ids = tableOf<{ id: string }>({ id: text });

class SqlKeptFileStore implements KeptFileStore {
  readonly #storage: Storage;
  readonly #sql: SqlRunner;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#sql = runnerOf(storage);
  }

  begin(file: KeptFile, room: { bytes: number; bytesMax: number }): Promise<boolean> {
    return inOneCommit(this.#storage, () => beginSteps(file, room));
  }

  append(id: string, number: number, content: Uint8Array): Promise<void> {
    return this.#sql.run(
      sql`INSERT INTO batch_file_parts (file_id, number, content) VALUES (${id}, ${number}, ${content})`,
    );
  }

  finish(file: Pick<KeptFile, "id" | "bytes" | "parts" | "keptUntil" | "isListed">): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE batch_files SET bytes = ${file.bytes}, parts = ${file.parts},
      is_listed = ${flag.write(file.isListed)}, kept_until = ${file.keptUntil} WHERE id = ${file.id} RETURNING id`);
  }

  find(id: string, at: number): Promise<KeptFile | undefined> {
    return this.#sql.first(
      sql`SELECT ${files.names} FROM batch_files WHERE id = ${id} AND kept_until > ${at}`,
      files.read,
    );
  }

  async part(id: string, number: number): Promise<Uint8Array | undefined> {
    const found = await this.#sql.first(
      sql`SELECT content FROM batch_file_parts WHERE file_id = ${id} AND number = ${number}`,
      contents.read,
    );
    return found?.content;
  }

  list({ owner, purpose, isAscending, after, limit }: FilePage, at: number): Promise<KeptFile[]> {
    const listed = sql`SELECT ${files.names} FROM batch_files WHERE owner = ${owner} AND kept_until > ${at}
      AND is_listed = ${flag.write(true)} AND (CAST(${purpose} AS text) IS NULL OR purpose = ${purpose})`;
    const { createdAt, id } = after ?? { createdAt: isAscending ? -1 : Number.MAX_SAFE_INTEGER, id: "" };
    const page = isAscending
      ? sql`${listed} AND (created_at, id) > (${createdAt}, ${id}) ORDER BY created_at, id LIMIT ${limit}`
      : sql`${listed} AND (created_at, id) < (${createdAt}, ${id}) ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
    return this.#sql.rows(page, files.read);
  }

  async removeUnlessInput(id: string): Promise<boolean> {
    const isHidden = await inOneCommit(this.#storage, () => hideSteps(id));
    if (isHidden) await removeHidden(this.#sql, id);
    return isHidden;
  }

  async remove(id: string): Promise<void> {
    await this.#sql.run(hiding(id));
    await removeHidden(this.#sql, id);
  }

  /** One after the other: the parts of one may be many. */
  async deleteExpired(at: number): Promise<void> {
    const expired = await this.#sql.rows(
      sql`SELECT id FROM batch_files WHERE kept_until <= ${at} AND NOT EXISTS
        (SELECT 1 FROM batches WHERE input_file_id = batch_files.id AND ended_at IS NULL) ORDER BY kept_until LIMIT ${DELETED_MAX}`,
      ids.read,
    );
    for (const { id } of expired) await this.remove(id);
  }
}

/** Of two uploads of one owner, the second one sees the bytes of the first. */
function* beginSteps(file: KeptFile, { bytes: more, bytesMax }: { bytes: number; bytesMax: number }): Steps<boolean> {
  yield sql`${OWNER_LOCK}${file.owner}${OWNER_LOCK_END}`;
  const used = yield* firstOf(
    sql`SELECT CAST(coalesce(sum(bytes), 0) AS bigint) AS total FROM batch_files
      WHERE owner = ${file.owner} AND kept_until > ${file.createdAt}`,
    sums.read,
  );
  if ((used?.total ?? 0) + more > bytesMax) return false;
  yield sql`INSERT INTO batch_files (${files.names}) VALUES (${files.values(file)})`;
  return true;
}

function* hideSteps(id: string): Steps<boolean> {
  yield sql`SELECT id FROM batch_files WHERE id = ${id} ${LOCK}`;
  const readers = yield sql`SELECT id FROM batches WHERE input_file_id = ${id} AND ended_at IS NULL LIMIT 1`;
  if (readers.length > 0) return false;
  yield hiding(id);
  return true;
}

/** Nobody finds the file any more, and it is deleted as an expired one should this process die. */
export function hiding(id: string): Statement {
  return sql`UPDATE batch_files SET kept_until = 0, is_listed = ${flag.write(false)} WHERE id = ${id}`;
}

/** Deletes a hidden file in several commits, since a large one would hold up the store's other writes; its row is the last. */
export async function removeHidden(runner: SqlRunner, id: string): Promise<void> {
  const parts = sql`DELETE FROM batch_file_parts WHERE file_id = ${id} AND number IN (
    SELECT number FROM batch_file_parts WHERE file_id = ${id} ORDER BY number LIMIT ${PARTS_MAX}) RETURNING number`;
  while (await runner.hasRows(parts)) await setImmediate();
  await runner.run(sql`DELETE FROM batch_files WHERE id = ${id}`);
}

export function openKeptFileStore(storage: Storage): KeptFileStore {
  return new SqlKeptFileStore(storage);
}
