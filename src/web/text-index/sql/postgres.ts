import type { Parameter, Statements } from "../../../storage/index.ts";
import type { SearchHit, SearchQuery } from "../../search/query.ts";
import type { IndexedPage, IndexSearch, TextIndexStore } from "../store.ts";
import { deletedMax, type HitRow, indexedText, phrasesOf, reversedHost, valuesOf, wantedOf } from "./rows.ts";

/** Hits that are ranked, since each has to be unpacked for it: those of a common word are too many. */
const RANKED_MAX = 300;

/** Pages with all words of a phrase in which the phrase itself is looked for, since each has to be unpacked for it. */
const LOOKED_THROUGH_MAX = 2_000;

/** Hits that are sorted by their age, if a query has nothing to rank them by. */
const SORTED_MAX = 2_000;

/**
 * The configuration without stemming: pages are in any language. The trigger marks the words of the title as the database's locale
 * reads them, which is not how queries are read.
 */
const WORDS = `setweight(to_tsvector('simple', $10), 'A') || setweight(to_tsvector('simple', $11), 'B')
  || to_tsvector('simple', $12) || array_to_tsvector(ARRAY(SELECT 'title:' || each FROM unnest($13::text[]) AS each))`;

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
    const title = indexedText(clean.title);
    const titleWords = [...new Set(title.split(" "))].map(shortened);
    const texts = [title, indexedText(clean.description), indexedText(page.text)];
    await this.#statements.run(PUT, [...valuesOf(clean), ...texts, titleWords]);
  }

  async search({ owner, query, limit, at }: IndexSearch): Promise<SearchHit[]> {
    const values: Parameter[] = [at, owner, limit];
    const add = (value: string): string => {
      values.push(value);
      return `$${values.length}`;
    };
    const { words, places, isRanked } = tsqueriesOf(owner, query, add);
    const most = isRanked ? RANKED_MAX : SORTED_MAX;
    const rank = isRanked ? `ts_rank('{0.1, 0.2, 0.4, 1.0}', words, ${words}) DESC` : "stored_at DESC";
    const statement = `SELECT url, title, description
      FROM web_matching(${words}, ${places}, $2, $1, ${LOOKED_THROUGH_MAX}, ${most}) ORDER BY ${rank} LIMIT $3`;
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

/**
 * The query as expressions of tsquerys: what the index of words decides alone, and the order of words, which each page is looked
 * through for. Words are letters, marks and digits only, so that none is taken for an operator.
 */
function tsqueriesOf(
  owner: string,
  query: SearchQuery,
  add: (value: string) => string,
): { words: string; places: string; isRanked: boolean } {
  const word = (text: string): string => `phraseto_tsquery('simple', ${add(text)})`;
  const allOf = (lexemes: readonly string[]): string => `${add(lexemes.join(" & "))}::tsquery`;
  const anyOf = (marks: readonly string[]): string => `${add(marks.map(lexeme).join(" | "))}::tsquery`;
  const sites = (names: readonly string[]): string => anyOf(names.map((site) => `site:${reversedHost(site)}`));
  const types = (names: readonly string[]): string => anyOf(names.map((type) => `type:${type}`));
  const { words: decisive, phrases } = wantedOf(query);
  const titles = phrasesOf(query.titles);
  const wanted = [
    ...[...decisive, ...phrases.flat()].map(word),
    ...titles.map((words) => allOf(words.map((each) => lexeme(`title:${each}`)))),
  ];
  const filters = [
    anyOf([markedOwner(owner)]),
    ...(query.sites.length > 0 ? [sites(query.sites)] : []),
    ...(query.filetypes.length > 0 ? [types(query.filetypes)] : []),
    ...(query.excludedSites.length > 0 ? [`!!${sites(query.excludedSites)}`] : []),
    ...(query.excludedFiletypes.length > 0 ? [`!!${types(query.excludedFiletypes)}`] : []),
    ...phrasesOf(query.excluded).map((words) => `!!${word(words.join(" "))}`),
  ];
  const ordered = [
    ...phrases.map((words) => word(words.join(" "))),
    ...titles.filter(isLong).map((words) => `${add(words.map((each) => `${lexeme(each)}:A`).join(" <-> "))}::tsquery`),
  ];
  return {
    words: [...filters, ...wanted].join(" && "),
    places: ordered.length > 0 ? ordered.join(" && ") : "''::tsquery",
    isRanked: wanted.length > 0,
  };
}

function isLong(words: readonly string[]): boolean {
  return words.length > 1;
}

/** The mark of a user's pages. */
function markedOwner(owner: string): string {
  return `o${Buffer.from(owner).toString("hex")}`;
}

/** A lexeme in the language of tsquery. */
function lexeme(text: string): string {
  return `'${withoutNul(shortened(text)).replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** Characters of a lexeme: Postgres refuses one of more than 2,046 bytes. */
const LEXEME_CHARACTERS_MAX = 500;

function shortened(word: string): string {
  return word.slice(0, LEXEME_CHARACTERS_MAX).toWellFormed();
}

/** Postgres stores no NUL in a text. */
function withoutNul(text: string): string {
  return text.replaceAll("\0", " ").toWellFormed();
}
