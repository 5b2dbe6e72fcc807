import type { Database, SQLQueryBindings } from "bun:sqlite";
import { extensionOf, type SearchHit, type SearchQuery } from "../../search/query.ts";
import type { IndexedPage, IndexSearch, TextIndexStore } from "../store.ts";
import { deletedMax, type HitRow, indexedText, phrasesOf, reversedHost, valuesOf, wantedOf } from "./rows.ts";

/** How much a word counts in the marks, the title, the description and the text. */
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
        .run(row?.id ?? null, marksOf(page), indexedText(title), indexedText(description), indexedText(text));
    });
    this.#merge();
  }

  /** Each page adds a segment to the index. The more there are, the longer a search takes. */
  #merge(): void {
    let slices = 1;
    while (this.#mergeSlice() && slices < SLICES_MAX) slices += 1;
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
    // The index gives the newest pages first by itself: it stops at the limit, and computes no rank before.
    const found = `SELECT web_words.rowid AS id ${isRanked ? `, bm25(web_words, ${WEIGHTS}) AS score` : ""}
      FROM web_words CROSS JOIN web_documents d ON d.id = web_words.rowid
      WHERE web_words MATCH ?1 AND d.kept_until > ?2 AND d.owner = ?3
      ORDER BY web_words.rowid DESC LIMIT ${isRanked ? RANKED_MAX : "?4"}`;
    const statement = `SELECT d.url, d.title, d.description FROM (${found}) AS found JOIN web_documents d ON d.id = found.id
      ORDER BY ${isRanked ? "score" : "found.id DESC"} LIMIT ?4`;
    return Promise.resolve(this.#database.query<HitRow, SQLQueryBindings[]>(statement).all(match, at, owner, limit));
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

function quoted(words: readonly string[]): string {
  return `"${words.join(" ")}"`;
}

/** The first letters of marks. They are words of the index, so what they name is written in letters and digits. */
const MARKS = { owner: "o", site: "s", type: "e" } as const;

function markWord(kind: keyof typeof MARKS, value: string): string {
  return `${MARKS[kind]}${Buffer.from(value).toString("hex")}`;
}

/** In the column `owner`: what a page is found by besides its own words: its owner, its host and the domains above, the extension of its address. */
function marksOf({ owner, url }: IndexedPage): string {
  const labels = reversedHost(new URL(url).hostname).split(".").slice(0, -1);
  const sites = labels.map((_, index) => markWord("site", `${labels.slice(0, index + 1).join(".")}.`));
  return [markWord("owner", owner), ...sites, markWord("type", extensionOf(url))].join(" ");
}

/** The query in FTS5's language. Words are letters, marks and digits only, so that none is taken for an operator once it is quoted. */
function matchOf(owner: string, query: SearchQuery): { match: string; isRanked: boolean } {
  const marked = (...words: string[]): string => `owner : (${words.map((word) => quoted([word])).join(" OR ")})`;
  const sitesOf = (sites: readonly string[]): string =>
    marked(...sites.map((site) => markWord("site", reversedHost(site))));
  const typesOf = (types: readonly string[]): string => marked(...types.map((type) => markWord("type", type)));
  const own = [
    marked(markWord("owner", owner)),
    ...(query.sites.length > 0 ? [sitesOf(query.sites)] : []),
    ...(query.filetypes.length > 0 ? [typesOf(query.filetypes)] : []),
  ];
  const { words, phrases } = wantedOf(query);
  const wanted = [
    ...words.map((word) => quoted([word])),
    ...phrases.map(quoted),
    ...phrasesOf(query.titles).map((each) => `title : ${quoted(each)}`),
  ];
  const excluded = [
    ...phrasesOf(query.excluded).map((each) => `NOT {title description text} : ${quoted(each)}`),
    ...(query.excludedSites.length > 0 ? [`NOT ${sitesOf(query.excludedSites)}`] : []),
    ...(query.excludedFiletypes.length > 0 ? [`NOT ${typesOf(query.excludedFiletypes)}`] : []),
  ];
  return { match: [`(${[...own, ...wanted].join(" AND ")})`, ...excluded].join(" "), isRanked: wanted.length > 0 };
}
