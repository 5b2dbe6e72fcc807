import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { SearchHit, SearchQuery } from "../../search/query.ts";
import type { IndexedPage, IndexSearch, TextIndexStore } from "../store.ts";
import { decisiveWords, deletedMax, type HitRow, ownerWord, phrasesOf, reversedHost, valuesOf } from "./rows.ts";

/** How much a word counts in the owner's mark, the title, the description and the text. */
const WEIGHTS = "0.0, 10.0, 3.0, 1.0";

/** The newest hits, which are ranked: those of a common word are too many. */
const RANKED_MAX = 2_000;

/** Pages of the database that one slice of a merge writes: about a millisecond of work. */
const SLICE_PAGES = 8;

/** Slices after one page: a page needs three on average. What is left is merged after the next one. */
const SLICES_MAX = 20;

const MERGE = `INSERT INTO web_words (web_words, rank) VALUES ('merge', ${SLICE_PAGES})`;
const CHANGES = "SELECT total_changes() AS count";

/** A merge without work to do changes one row, by its own account. */
const IDLE_CHANGES = 1n;

const FIND = "SELECT id FROM web_documents WHERE owner = ?1 AND key = ?2";

const PUT = `INSERT INTO web_documents (owner, key, url, host, extension, title, description, stored_at, kept_until)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id`;

/** The full-text index on SQLite: FTS5, which stores no text itself. */
export class SqliteTextIndexStore implements TextIndexStore {
  readonly #database: Database;
  #merging: NodeJS.Immediate | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  async put(page: IndexedPage): Promise<void> {
    const { owner, key, title, description, text } = page;
    this.#inTransaction(() => {
      const known = this.#database.query<{ id: bigint }, [string, string]>(FIND).get(owner, key);
      if (known !== null) this.#delete([known.id]);
      const row = this.#database.query<{ id: bigint }, SQLQueryBindings[]>(PUT).get(...valuesOf(page));
      this.#database
        .query("INSERT INTO web_words (rowid, owner, title, description, text) VALUES (?1, ?2, ?3, ?4, ?5)")
        .run(row?.id ?? null, ownerWord(owner), title, description, text);
    });
    this.#mergeSoon(SLICES_MAX);
  }

  /**
   * Each page adds a segment to the index. They are merged a little at a time, between other work. What is left, because
   * of a failure too, is merged after the next page.
   */
  #mergeSoon(slices: number): void {
    clearImmediate(this.#merging);
    this.#merging = setImmediate(() => {
      try {
        if (this.#mergeSlice() && slices > 1) this.#mergeSoon(slices - 1);
      } catch {
        // The page that comes next fails as well if that lasts.
      }
    });
  }

  /** Whether there was anything to merge. */
  #mergeSlice(): boolean {
    const before = this.#changes();
    this.#database.query(MERGE).run();
    return this.#changes() - before > IDLE_CHANGES;
  }

  #changes(): bigint {
    return this.#database.query<{ count: bigint }, []>(CHANGES).get()?.count ?? 0n;
  }

  search({ owner, query, limit, at }: IndexSearch): Promise<SearchHit[]> {
    const { match, isRanked } = matchOf(owner, query);
    const values: SQLQueryBindings[] = [match, at, owner, limit];
    const filters: string[] = [];
    const add = (sql: (parameter: string) => string, value: string): string => {
      values.push(value);
      return sql(`?${values.length}`);
    };
    const sites = query.sites.map((site) => add(isOn, reversedHost(site)));
    if (sites.length > 0) filters.push(`(${sites.join(" OR ")})`);
    filters.push(...query.excludedSites.map((site) => `NOT ${add(isOn, reversedHost(site))}`));
    const types = query.filetypes.map((type) => add((parameter) => `d.extension = ${parameter}`, type));
    if (types.length > 0) filters.push(`(${types.join(" OR ")})`);
    // The index gives the newest pages first by itself: it stops at the limit, and computes no rank before.
    const found = `SELECT web_words.rowid AS id ${isRanked ? `, bm25(web_words, ${WEIGHTS}) AS score` : ""}
      FROM web_words CROSS JOIN web_documents d ON d.id = web_words.rowid
      WHERE web_words MATCH ?1 AND d.kept_until > ?2 AND d.owner = ?3 ${filters.map((filter) => `AND ${filter}`).join(" ")}
      ORDER BY web_words.rowid DESC LIMIT ${isRanked ? RANKED_MAX : "?4"}`;
    const statement = `SELECT d.url, d.title, d.description FROM (${found}) AS found JOIN web_documents d ON d.id = found.id
      ORDER BY ${isRanked ? "score" : "found.id DESC"} LIMIT ?4`;
    return Promise.resolve(this.#database.query<HitRow, SQLQueryBindings[]>(statement).all(...values));
  }

  trim(owner: string, pagesMax: number): Promise<void> {
    const oldest = "SELECT id FROM web_documents WHERE owner = ?1 ORDER BY stored_at DESC, id DESC LIMIT ?3 OFFSET ?2";
    this.#inTransaction(() => this.#delete(this.#ids(oldest, [owner, pagesMax, deletedMax])));
    return Promise.resolve();
  }

  deleteExpired(at: number): Promise<void> {
    const expired = "SELECT id FROM web_documents WHERE kept_until <= ?1 LIMIT ?2";
    this.#inTransaction(() => this.#delete(this.#ids(expired, [at, deletedMax])));
    return Promise.resolve();
  }

  #ids(statement: string, values: SQLQueryBindings[]): bigint[] {
    return this.#database
      .query<{ id: bigint }, SQLQueryBindings[]>(statement)
      .all(...values)
      .map(({ id }) => id);
  }

  #delete(ids: readonly bigint[]): void {
    for (const id of ids) {
      this.#database.query("DELETE FROM web_words WHERE rowid = ?1").run(id);
      this.#database.query("DELETE FROM web_documents WHERE id = ?1").run(id);
    }
  }

  #inTransaction(work: () => void): void {
    this.#database.transaction(work).immediate();
  }
}

function isOn(parameter: string): string {
  return `substr(d.host, 1, length(${parameter})) = ${parameter}`;
}

function quoted(words: readonly string[]): string {
  return `"${words.join(" ")}"`;
}

/** The query in FTS5's language. Words are letters and digits only, so that none is taken for an operator once it is quoted. */
function matchOf(owner: string, query: SearchQuery): { match: string; isRanked: boolean } {
  const wanted = [
    ...decisiveWords(query.words).map((word) => quoted([word])),
    ...phrasesOf(query.phrases).map(quoted),
    ...phrasesOf(query.titles).map((words) => `title : ${quoted(words)}`),
  ];
  const excluded = phrasesOf(query.excluded).map((words) => `NOT {title description text} : ${quoted(words)}`);
  const all = [`owner : ${quoted([ownerWord(owner)])}`, ...wanted].join(" AND ");
  return { match: [`(${all})`, ...excluded].join(" "), isRanked: wanted.length > 0 };
}
