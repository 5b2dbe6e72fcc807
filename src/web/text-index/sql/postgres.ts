import { sql, type SqlRunner } from "../../../storage/index.ts";
import type { SearchHit, SearchQuery } from "../../search/query.ts";
import type { IndexedPage, IndexSearch, TextIndexStore } from "../store.ts";
import { deletedMax, documents, hits, indexedText, phrasesOf, reversedHost, storedPageOf, wantedOf } from "./rows.ts";

/** Hits that are ranked, since each has to be unpacked for it: those of a common word are too many. */
const RANKED_MAX = 300;

/** Pages with all words of a phrase in which the phrase itself is looked for, since each has to be unpacked for it. */
const LOOKED_THROUGH_MAX = 2_000;

/** Hits that are sorted by their age, if a query has nothing to rank them by. */
const SORTED_MAX = 2_000;

/**
 * The full-text index on Postgres: a tsvector for each page, which begins with its owner's mark. Its configuration has no stemming:
 * pages are in any language.
 */
export class PostgresTextIndexStore implements TextIndexStore {
  readonly #sql: SqlRunner;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
  }

  put(page: IndexedPage): Promise<void> {
    const clean = { ...page, title: withoutNul(page.title), description: withoutNul(page.description) };
    const title = indexedText(clean.title);
    // The trigger marks the words of the title as the database's locale reads them, which is not how queries are read.
    const titleWords = [...new Set(title.split(" "))].map(shortened);
    return this.#sql.run(sql`INSERT INTO web_documents (${documents.names}, words)
      VALUES (${documents.values(storedPageOf(clean))}, setweight(to_tsvector('simple', ${title}), 'A')
        || setweight(to_tsvector('simple', ${indexedText(clean.description)}), 'B')
        || to_tsvector('simple', ${indexedText(page.text)}) || array_to_tsvector(ARRAY(
          SELECT 'title:' || each FROM json_array_elements_text(${JSON.stringify(titleWords)}::text::json) AS each)))
      ON CONFLICT (owner, key) DO UPDATE SET url = excluded.url, host = excluded.host, extension = excluded.extension,
        title = excluded.title, description = excluded.description, stored_at = excluded.stored_at,
        kept_until = excluded.kept_until, words = excluded.words`);
  }

  search({ owner, query, limit, at }: IndexSearch): Promise<SearchHit[]> {
    const { marks, words, titles, phrases, isRanked } = tsqueriesOf(owner, query);
    const asked = sql`SELECT ${marks}::tsquery && coalesce(to_tsquery('simple', ${words}), '') AS query,
      ${titles}::tsquery && coalesce(to_tsquery('simple', ${phrases}), '') AS places`;
    return this.#sql.rows(
      sql`SELECT ${hits.names} FROM (${asked}) AS asked, web_matching(asked.query, asked.places, ${owner}, ${at},
          ${LOOKED_THROUGH_MAX}, ${isRanked ? RANKED_MAX : SORTED_MAX})
        ORDER BY CASE WHEN ${isRanked} THEN ts_rank('{0.1, 0.2, 0.4, 1.0}', words, asked.query) END DESC, stored_at DESC
        LIMIT ${limit}`,
      hits.read,
    );
  }

  trim(owner: string, pagesMax: number): Promise<void> {
    return this.#sql.run(sql`DELETE FROM web_documents WHERE (owner, key) IN (
      SELECT owner, key FROM web_documents WHERE owner = ${owner} ORDER BY stored_at DESC, key DESC
      LIMIT ${deletedMax} OFFSET ${pagesMax})`);
  }

  deleteExpired(at: number): Promise<void> {
    return this.#sql.run(sql`DELETE FROM web_documents WHERE (owner, key) IN (
      SELECT owner, key FROM web_documents WHERE kept_until <= ${at} LIMIT ${deletedMax})`);
  }
}

/**
 * The query as texts of tsquerys: what the index of words decides alone (marks, as they are, and words, which the configuration
 * reads), and the order of words, which each page is looked through for. Words are letters, marks and digits only, so that none is
 * taken for an operator.
 */
function tsqueriesOf(owner: string, query: SearchQuery) {
  const anyOf = (marks: readonly string[]): string => `(${marks.map(lexeme).join(" | ")})`;
  const sites = (names: readonly string[]): string => anyOf(names.map((site) => `site:${reversedHost(site)}`));
  const types = (names: readonly string[]): string => anyOf(names.map((type) => `type:${type}`));
  const phrase = (words: readonly string[]): string => lexeme(words.join(" "));
  const { words: decisive, phrases } = wantedOf(query);
  const titles = phrasesOf(query.titles);
  const marks = [
    anyOf([markedOwner(owner)]),
    ...(query.sites.length > 0 ? [sites(query.sites)] : []),
    ...(query.filetypes.length > 0 ? [types(query.filetypes)] : []),
    ...(query.excludedSites.length > 0 ? [`!${sites(query.excludedSites)}`] : []),
    ...(query.excludedFiletypes.length > 0 ? [`!${types(query.excludedFiletypes)}`] : []),
    ...titles.flat().map((word) => lexeme(`title:${word}`)),
  ];
  const wanted = [...decisive, ...phrases.flat()].map(lexeme);
  const excluded = phrasesOf(query.excluded).map((words) => `!${phrase(words)}`);
  const longTitles = titles
    .filter(isLong)
    .map((words) => `(${words.map((each) => `${lexeme(each)}:A`).join(" <-> ")})`);
  return {
    marks: marks.join(" & "),
    words: allOf([...wanted, ...excluded]),
    titles: longTitles.join(" & "),
    phrases: allOf(phrases.map(phrase)),
    isRanked: wanted.length + titles.length > 0,
  };
}

/** Undefined for none: Postgres would warn of a query without words. */
function allOf(parts: readonly string[]): string | undefined {
  return parts.length === 0 ? undefined : parts.join(" & ");
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
