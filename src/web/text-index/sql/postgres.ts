import type { Parameter, Statements } from "../../../storage/index.ts";
import type { SearchHit, SearchQuery } from "../../search/query.ts";
import type { IndexedPage, IndexSearch, TextIndexStore } from "../store.ts";
import { decisiveWords, deletedMax, type HitRow, ownerWord, phrasesOf, reversedHost, valuesOf } from "./rows.ts";

/** Hits that are ranked, since each has to be unpacked for it: those of a common word are too many. */
const RANKED_MAX = 300;

/** Hits that are sorted by their age, if a query has nothing to rank them by. */
const SORTED_MAX = 2_000;

/** The configuration without stemming: pages are in any language. */
const WORDS = `to_tsvector('simple', $11) || setweight(to_tsvector('simple', $6), 'A')
  || setweight(to_tsvector('simple', $7), 'B') || to_tsvector('simple', $10)`;

const PUT = `INSERT INTO web_documents (owner, key, url, host, extension, title, description, stored_at, kept_until, words)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, ${WORDS})
  ON CONFLICT (owner, key) DO UPDATE SET url = excluded.url, host = excluded.host, extension = excluded.extension,
    title = excluded.title, description = excluded.description, stored_at = excluded.stored_at,
    kept_until = excluded.kept_until, words = excluded.words`;

/** The full-text index on Postgres: a tsvector for each page, which begins with its owner's mark. */
export class PostgresTextIndexStore implements TextIndexStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async put(page: IndexedPage): Promise<void> {
    const clean = { ...page, title: withoutNul(page.title), description: withoutNul(page.description) };
    await this.#statements.run(PUT, [...valuesOf(clean), withoutNul(page.text), ownerWord(page.owner)]);
  }

  async search({ owner, query, limit, at }: IndexSearch): Promise<SearchHit[]> {
    const values: Parameter[] = [at, owner, limit];
    const add = (value: string): string => {
      values.push(value);
      return `$${values.length}`;
    };
    const addList = (list: readonly string[]): string => {
      values.push(list);
      return `$${values.length}`;
    };
    const { tsquery, isRanked } = tsqueryOf(owner, query, add);
    const lists = [query.sites.map(reversedHost), query.excludedSites.map(reversedHost), query.filetypes];
    const [sites, excluded, types] = lists.map((list) => `${addList(list)}::text[]`);
    const most = isRanked ? RANKED_MAX : SORTED_MAX;
    const rank = isRanked ? `ts_rank('{0.1, 0.2, 0.4, 1.0}', words, ${tsquery}) DESC` : "stored_at DESC";
    const statement = `SELECT url, title, description
      FROM web_found(${tsquery}, $2, $1, ${sites}, ${excluded}, ${types}, ${most}) ORDER BY ${rank} LIMIT $3`;
    return this.#statements.run<HitRow>(statement, values);
  }

  async trim(owner: string, pagesMax: number): Promise<void> {
    await this.#statements.run(
      `DELETE FROM web_documents WHERE (owner, key) IN (
        SELECT owner, key FROM web_documents WHERE owner = $1 ORDER BY stored_at DESC, key DESC LIMIT $3 OFFSET $2)`,
      [owner, pagesMax, deletedMax],
    );
  }

  async deleteExpired(at: number): Promise<void> {
    await this.#statements.run(
      `DELETE FROM web_documents WHERE (owner, key) IN (
        SELECT owner, key FROM web_documents WHERE kept_until <= $1 LIMIT $2)`,
      [at, deletedMax],
    );
  }
}

/** The query as an expression of tsquerys. Words are letters and digits only, so that none is taken for an operator. */
function tsqueryOf(
  owner: string,
  query: SearchQuery,
  add: (value: string) => string,
): { tsquery: string; isRanked: boolean } {
  const phrase = (words: readonly string[]): string => `phraseto_tsquery('simple', ${add(words.join(" "))})`;
  const wanted = [
    ...decisiveWords(query.words).map((word) => phrase([word])),
    ...phrasesOf(query.phrases).map(phrase),
    ...phrasesOf(query.titles).map((words) => `${add(words.map((word) => `'${word}':A`).join(" <-> "))}::tsquery`),
  ];
  const excluded = phrasesOf(query.excluded).map((words) => `!!${phrase(words)}`);
  const own = `${add(`'${ownerWord(owner)}'`)}::tsquery`;
  return { tsquery: [own, ...wanted, ...excluded].join(" && "), isRanked: wanted.length > 0 };
}

/** Postgres stores no NUL in a text. */
function withoutNul(text: string): string {
  return text.replaceAll("\0", " ").toWellFormed();
}
