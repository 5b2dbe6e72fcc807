import { column, sql, type SqliteRunner, type Statement, tableOf, type Transaction } from "../../../storage/index.ts";
import { extensionOf, type SearchHit, type SearchQuery } from "../../search/query.ts";
import type { IndexedPage, IndexSearch, TextIndexStore } from "../store.ts";
import { deletedMax, documents, hits, indexedText, phrasesOf, reversedHost, storedPageOf, wantedOf } from "./rows.ts";

/** The newest hits, which are ranked: those of a common word are too many. */
const RANKED_MAX = 2_000;

/** Slices of a merge after one page: a page needs three on average. What is left is merged after the next one. */
const SLICES_MAX = 20;

/** Writes as many pages of the database as a millisecond of work does. */
const MERGE = sql`INSERT INTO web_words (web_words, rank) VALUES ('merge', 8)`;

/** A merge without work to do changes one row, by its own account. */
const IDLE_CHANGES = 1;

const ids = tableOf({ id: column.bigInteger });
const changes = tableOf({ count: column.integer });

/** The full-text index on SQLite: FTS5, which stores no text itself. */
export class SqliteTextIndexStore implements TextIndexStore {
  readonly #sql: SqliteRunner;

  constructor(runner: SqliteRunner) {
    this.#sql = runner;
  }

  async put(page: IndexedPage): Promise<void> {
    const { owner, key, title, description, text } = page;
    await this.#sql.transaction((transaction) => {
      remove(transaction, sql`SELECT id FROM web_documents WHERE owner = ${owner} AND key = ${key}`);
      const stored = transaction.first(
        sql`INSERT INTO web_documents (${documents.names}) VALUES (${documents.values(storedPageOf(page))}) RETURNING id`,
        ids.read,
      );
      transaction.run(sql`INSERT INTO web_words (rowid, owner, title, description, text) VALUES (${stored?.id},
        ${marksOf(page)}, ${indexedText(title)}, ${indexedText(description)}, ${indexedText(text)})`);
    });
    await this.#merge();
  }

  /** Each page adds a segment to the index. The more there are, the longer a search takes. */
  async #merge(): Promise<void> {
    for (let slices = 0, before = await this.#changes(); slices < SLICES_MAX; slices += 1) {
      await this.#sql.run(MERGE);
      const after = await this.#changes();
      if (after - before <= IDLE_CHANGES) return;
      before = after;
    }
  }

  async #changes(): Promise<number> {
    return (await this.#sql.first(sql`SELECT total_changes() AS count`, changes.read))?.count ?? 0;
  }

  search({ owner, query, limit, at }: IndexSearch): Promise<SearchHit[]> {
    const { match, isRanked } = matchOf(owner, query);
    // The index gives the newest pages first by itself: it stops at the limit, and computes no rank before.
    const found = sql`FROM web_words CROSS JOIN web_documents d ON d.id = web_words.rowid
      WHERE web_words MATCH ${match} AND d.kept_until > ${at} AND d.owner = ${owner}
      ORDER BY web_words.rowid DESC LIMIT ${isRanked ? RANKED_MAX : limit}`;
    // How much a word counts in the marks, the title, the description and the text.
    const statement = isRanked
      ? sql`SELECT d.url, d.title, d.description
          FROM (SELECT web_words.rowid AS id, bm25(web_words, 0.0, 10.0, 3.0, 1.0) AS score ${found}) AS found
          JOIN web_documents d ON d.id = found.id ORDER BY score LIMIT ${limit}`
      : sql`SELECT d.url, d.title, d.description FROM (SELECT web_words.rowid AS id ${found}) AS found
          JOIN web_documents d ON d.id = found.id ORDER BY found.id DESC`;
    return this.#sql.rows(statement, hits.read);
  }

  trim(owner: string, pagesMax: number): Promise<void> {
    return this.#remove(sql`SELECT id FROM web_documents WHERE owner = ${owner}
      ORDER BY stored_at DESC, id DESC LIMIT ${deletedMax} OFFSET ${pagesMax}`);
  }

  deleteExpired(at: number): Promise<void> {
    return this.#remove(sql`SELECT id FROM web_documents WHERE kept_until <= ${at} LIMIT ${deletedMax}`);
  }

  #remove(chosen: Statement): Promise<void> {
    return this.#sql.transaction((transaction) => remove(transaction, chosen));
  }
}

function remove(transaction: Transaction, chosen: Statement): void {
  for (const { id } of transaction.rows(chosen, ids.read)) {
    transaction.run(sql`DELETE FROM web_words WHERE rowid = ${id}`);
    transaction.run(sql`DELETE FROM web_documents WHERE id = ${id}`);
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
