import type { Database } from "bun:sqlite";
import type { FileKey, FileQuota, FileStore, UploadedFile, UploadPlace } from "../file-store.ts";
import { type FileRow, fileStatementsWith, NEVER, toFileKey } from "./files.ts";

const USED = "FROM stored_objects WHERE owner = ?3 AND bytes IS NOT NULL AND kept_until > ?6";

/** One statement: SQLite locks the database before it reads. */
const RESERVE = `INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until, bytes)
  SELECT ?1, ?2, 'upload', ?3, '', ?5, ?4
  WHERE (SELECT count(*) ${USED}) < ?7 AND (SELECT coalesce(sum(bytes), 0) ${USED}) + ?4 <= ?8`;

const RECORD = `INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until, bytes)
  SELECT ?1, ?2, 'file', ?3, ?4, ?5, ?6
  WHERE NOT EXISTS (SELECT 1 FROM stored_objects
    WHERE id = ?1 AND provider = ?2 AND kind = 'file' AND owner <> ?3 AND kept_until > ?7)
  ON CONFLICT (id, provider, kind, owner)
  DO UPDATE SET key_id = excluded.key_id, kept_until = excluded.kept_until, bytes = excluded.bytes`;

const SQL = fileStatementsWith((index) => `?${index}`);

/** Uploaded files on SQLite. */
export class SqliteFileStore implements FileStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  reserve({ id, provider, owner, bytes, until }: UploadPlace, quota: FileQuota, at: number): Promise<boolean> {
    const { filesMax, bytesMax } = quota;
    const { changes } = this.#database.query(RESERVE).run(id, provider, owner, bytes, until, at, filesMax, bytesMax);
    return Promise.resolve(changes === 1);
  }

  cancel({ id, provider, owner }: UploadPlace): Promise<void> {
    this.#database.query(SQL.cancel).run(id, provider, owner);
    return Promise.resolve();
  }

  record(place: UploadPlace, file: UploadedFile, at: number): Promise<boolean> {
    const { id, provider, owner, keyId, bytes, expiresAt = NEVER } = file;
    const replace = this.#database.transaction(() => {
      this.#database.query(SQL.cancel).run(place.id, place.provider, place.owner);
      return this.#database.query(RECORD).run(id, provider, owner, keyId, expiresAt, bytes, at).changes;
    });
    return Promise.resolve(replace.immediate() === 1);
  }

  filesOf(provider: string, owner: string, at: number): Promise<FileKey[]> {
    const query = this.#database.query<FileRow, [string, string, number]>(SQL.filesOf);
    return Promise.resolve(query.all(owner, provider, at).map(toFileKey));
  }

  remove(provider: string, id: string): Promise<void> {
    this.#database.query(SQL.remove).run(id, provider);
    return Promise.resolve();
  }
}
