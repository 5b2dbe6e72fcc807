import { Database, SQLiteError } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** One entry: an id, and its content as text. */
export interface JournalEntry {
  id: string;
  content: string;
}

const SUFFIX = ".journal";

/**
 * A file of entries that survives the death of its process and of the machine. It belongs to one process, which holds an
 * exclusive lock on it; the system releases the lock when that process ends, however it does. The file is a SQLite
 * database, since SQLite already handles torn writes and locks.
 */
export class JournalFile {
  readonly #path: string;
  readonly #database: Database;

  private constructor(path: string, database: Database) {
    this.#path = path;
    this.#database = database;
  }

  /** Creates an empty file. Throws if the directory cannot be written to. */
  static create(directory: string): JournalFile {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = JournalFile.#open(join(directory, `${crypto.randomUUID()}${SUFFIX}`));
    if (file === undefined) throw new Error("a new journal file is locked");
    return file;
  }

  /** Takes over the files whose process has ended; none if the directory does not exist. */
  static takeOver(directory: string): JournalFile[] {
    if (!existsSync(directory)) return [];
    const names = readdirSync(directory).filter((name) => name.endsWith(SUFFIX));
    return names.flatMap((name) => JournalFile.#open(join(directory, name)) ?? []);
  }

  /** Undefined if another process holds the lock. */
  static #open(path: string): JournalFile | undefined {
    const database = new Database(path, { create: true, strict: true });
    try {
      // Each transaction is flushed to the disk with its directory, before it returns.
      database.run("PRAGMA locking_mode = EXCLUSIVE");
      database.run("PRAGMA journal_mode = DELETE");
      database.run("PRAGMA synchronous = EXTRA");
      const create = (): void => {
        database.run("CREATE TABLE IF NOT EXISTS entries (id TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT");
      };
      database.transaction(create).exclusive();
      return new JournalFile(path, database);
    } catch (cause) {
      database.close();
      if (cause instanceof SQLiteError && cause.code === "SQLITE_BUSY") return undefined;
      throw cause;
    }
  }

  /** Durable when it returns. An entry with the same id is replaced. Throws if the disk refuses. */
  put(entries: readonly JournalEntry[]): void {
    const insert = this.#database.query("INSERT OR REPLACE INTO entries (id, content) VALUES (?1, ?2)");
    this.#database
      .transaction(() => {
        for (const { id, content } of entries) insert.run(id, content);
      })
      .exclusive();
  }

  entries(): JournalEntry[] {
    return this.#database.query<JournalEntry, []>("SELECT id, content FROM entries ORDER BY rowid").all();
  }

  remove(ids: readonly string[]): void {
    this.#database.query("DELETE FROM entries WHERE id IN (SELECT value FROM json_each(?1))").run(JSON.stringify(ids));
  }

  /** Releases the lock; an empty file is deleted. */
  close(): void {
    const isEmpty = this.entries().length === 0;
    this.#database.close();
    // A process that takes it over in this moment finds nothing in it either. SQLite may leave its own journal.
    if (isEmpty) for (const path of [this.#path, `${this.#path}-journal`]) rmSync(path, { force: true });
  }
}
