import { sql, type SqlRunner, type Statement } from "../../../storage/index.ts";
import type { SearchHit, SearchQuery, SearchTerm } from "../../search/query.ts";
import { wordsOf } from "../../search/words.ts";
import { stemsOfTexts } from "../stems.ts";
import type { IndexedPage, IndexSearch, TextIndexStore } from "../store.ts";
import { findPages } from "./find-pages.ts";
import {
  deletedMax,
  documents,
  hits,
  indexedText,
  phrasesOf,
  reversedHost,
  type ScoredHit,
  scoredHits,
  storedPageOf,
} from "./rows.ts";
import { conditionsOf, indexedAlternatives, type Wanted, type WantedWord, wantedOf, wantedWord } from "./wanted.ts";

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
          SELECT 'title:' || each FROM json_array_elements_text(${JSON.stringify(titleWords)}::text::json) AS each))
        || ${stemsOf(page)}::text::tsvector)
      ON CONFLICT (owner, key) DO UPDATE SET url = excluded.url, host = excluded.host, extension = excluded.extension,
        title = excluded.title, description = excluded.description, stored_at = excluded.stored_at,
        kept_until = excluded.kept_until, published_at = excluded.published_at, words = excluded.words`);
  }

  search({ owner, query, limit, at, until = Infinity }: IndexSearch): Promise<SearchHit[]> {
    const wanted = wantedOf(query);
    const matching = (words: readonly WantedWord[]) => ({
      ...tsqueriesOf(owner, query, { words, phrases: wanted.phrases }),
      ...conditionsOf(query, termText),
      owner,
      at,
    });
    const isRanked = wanted.words.length + wanted.phrases.length + phrasesOf(query.titles).length > 0;
    return findPages(
      wanted.words,
      { limit, until },
      {
        all: (words) => this.#all({ ...matching(words), most: isRanked ? RANKED_MAX : SORTED_MAX, limit, isRanked }),
        scored: (word, most) => this.#scored({ ...matching([word]), most: Math.min(most, RANKED_MAX) }),
      },
    );
  }

  #all(matching: Matching & { limit: number; isRanked: boolean }): Promise<SearchHit[]> {
    return this.#sql.rows(
      sql`SELECT url, title, description, ${DATED_AT} FROM ${foundBy(matching)}
        ORDER BY CASE WHEN ${matching.isRanked} THEN ts_rank('{0.1, 0.2, 0.4, 1.0}', words, asked.query) END DESC,
          stored_at DESC LIMIT ${matching.limit}`,
      hits.read,
    );
  }

  /** The parts of BM25: how rare the word is among the pages that are looked at, how often it is in one, and how long that is. */
  #scored(matching: Matching): Promise<ScoredHit[]> {
    return this.#sql.rows(
      sql`SELECT url, title, description, ${DATED_AT}, ln(1 + (${matching.most} + 0.5) / (count(*) OVER () + 0.5))
          * ts_rank('{0.1, 0.2, 0.4, 1.0}', words, asked.query, ${BY_LOGARITHM_OF_LENGTH}) AS score
        FROM ${foundBy(matching)}`,
      scoredHits.read,
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

/** A flag of `ts_rank`. */
const BY_LOGARITHM_OF_LENGTH = 1;

interface Matching extends ReturnType<typeof tsqueriesOf>, ReturnType<typeof conditionsOf> {
  owner: string;
  at: number;
  /** Pages that are looked at. */
  most: number;
}

const DATED_AT = sql`coalesce(published_at, stored_at) AS dated_at`;

/** `parts` are read by the configuration, as texts are, but for their marks. Texts without a word are none, of which Postgres would warn. */
function foundBy(matching: Matching): Statement {
  const { marks, parts, titles, phrases, owner, at, most, since, until, lists, without } = matching;
  return sql`(SELECT ${marks}::tsquery && coalesce((
        SELECT string_agg('(' || concat_ws(' | ', nullif(to_tsquery('simple', part ->> 'words')::text, ''), part ->> 'marks') || ')', ' & ')
        FROM json_array_elements(${parts}::text::json) AS part
      )::tsquery, '') AS query, ${titles}::tsquery && coalesce(to_tsquery('simple', ${phrases}), '') AS places
    ) AS asked, web_filtered(asked.query, asked.places, ${owner}, ${at}, ${LOOKED_THROUGH_MAX}, ${most}, ${since}, ${until},
      ${lists}::text::json, ${without}::text::json)`;
}

/** Stems of a page's words as a text of a tsvector, with the positions and weights that its words have. */
function stemsOf({ title, description, text, language }: IndexedPage): string {
  const lexemes = new Map<string, string[]>();
  let before = 0;
  for (const [index, stems] of stemsOfTexts([title, description, text], language).entries()) {
    let last = 0;
    for (const [stem, positions] of stems) {
      const places = lexemes.get(stem) ?? [];
      lexemes.set(stem, places);
      for (const position of positions) places.push(`${Math.min(before + position, POSITION_MAX)}${WEIGHTS[index]}`);
      last = Math.max(last, ...positions);
    }
    before += last;
  }
  return [...lexemes]
    .map(([stem, places]) => `${stemLexeme(stem)}:${places.slice(0, POSITIONS_MAX).join(",")}`)
    .join(" ");
}

/** Postgres's own bounds of a word's positions. */
const POSITION_MAX = 16_383;
const POSITIONS_MAX = 255;

/** Of the title, the description and the text. */
const WEIGHTS = ["A", "B", "D"];

function stemLexeme(stem: string): string {
  return lexeme(`stem:${stem}`);
}

/**
 * The query as texts of tsquerys: what the index of words decides alone (marks, as they are, and words, which the configuration
 * reads), and the order of words, which each page is looked through for. Words are letters, marks and digits only, so that none is
 * taken for an operator.
 */
function tsqueriesOf(owner: string, query: SearchQuery, wanted: Wanted) {
  const titles = phrasesOf(query.titles);
  const marks = [
    anyOf([markedOwner(owner)]),
    ...(query.sites.length > 0 ? [sitesText(query.sites)] : []),
    ...(query.filetypes.length > 0 ? [typesText(query.filetypes)] : []),
    ...(query.excludedSites.length > 0 ? [`!${sitesText(query.excludedSites)}`] : []),
    ...(query.excludedFiletypes.length > 0 ? [`!${typesText(query.excludedFiletypes)}`] : []),
    ...phrasesOf(query.excludedTitles).map((words) => `!${titleText(words)}`),
    ...titles.flat().map((word) => lexeme(`title:${word}`)),
  ];
  const isPhrase = ({ spellings, stems }: WantedWord): boolean =>
    stems.length === 0 && spellings.length === 1 && isLong(spellings[0] ?? []);
  const phrases = [...wanted.phrases, ...wanted.words.filter(isPhrase).flatMap(({ spellings }) => spellings)];
  const parts = [
    ...wanted.words.filter((word) => !isPhrase(word)).map(partOf),
    ...phrases.flat().map((word) => ({ words: lexeme(word) })),
    ...phrasesOf(query.excluded).map((words) => ({ words: `!${phrase(words)}` })),
    ...indexedAlternatives(query).map(anyPartOf),
  ];
  return {
    marks: marks.join(" & "),
    parts: JSON.stringify(parts),
    titles: titles.filter(isLong).map(titleText).join(" & "),
    phrases: allOf(phrases.filter(isLong).map(phrase)),
  };
}

/** A condition of the index: words that the configuration reads, or marks as they are. */
interface Part {
  words?: string | undefined;
  marks?: string | undefined;
}

function partOf({ spellings, stems }: WantedWord): Part {
  return {
    words: spellings.map(phrase).join(" | "),
    ...(stems.length > 0 && { marks: stems.map(stemLexeme).join(" | ") }),
  };
}

function anyPartOf(terms: readonly SearchTerm[]): Part {
  const parts = terms.map(termPart);
  return { words: anyText(parts.map(({ words }) => words)), marks: anyText(parts.map(({ marks }) => marks)) };
}

function anyText(texts: readonly (string | undefined)[]): string | undefined {
  const some = texts.filter((text) => text !== undefined && text !== "");
  return some.length === 0 ? undefined : some.join(" | ");
}

function termPart({ kind, text }: SearchTerm): Part {
  switch (kind) {
    case "site":
      return { marks: sitesText([text]) };
    case "filetype":
      return { marks: typesText([text]) };
    case "title":
      return { marks: titleText(wordsOf(text)) };
    case "word":
      return wantedWord(text).map(partOf)[0] ?? {};
    default:
      return { words: phrase(wordsOf(text)) };
  }
}

/** A term beside a part of an address, as a text of a tsquery, whose words are not read by the configuration. */
function termText(term: SearchTerm): string {
  const { marks } = termPart(term);
  const words = ["word", "phrase"].includes(term.kind) ? wordsOf(term.text).map(lexeme).join(" <-> ") : "";
  return anyText([words, marks]) ?? "";
}

function anyOf(lexemes: readonly string[]): string {
  return `(${lexemes.map(lexeme).join(" | ")})`;
}

function sitesText(names: readonly string[]): string {
  return anyOf(names.map((site) => `site:${reversedHost(site)}`));
}

function typesText(names: readonly string[]): string {
  return anyOf(names.map((type) => `type:${type}`));
}

function phrase(words: readonly string[]): string {
  return lexeme(words.join(" "));
}

/** Words of a title, one after the other. */
function titleText(words: readonly string[]): string {
  if (words.length === 1) return lexeme(`title:${words[0]}`);
  return `(${words.map((each) => `${lexeme(each)}:A`).join(" <-> ")})`;
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
