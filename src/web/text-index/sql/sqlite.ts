import { column, sql, type SqliteRunner, type Statement, tableOf, type Transaction } from "../../../storage/index.ts";
import { extensionOf } from "../../search/passes.ts";
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
import { conditionsOf, indexedAlternatives, type WantedWord, wantedOf, wantedWord } from "./wanted.ts";

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
    const { owner, key, title, description, text, language } = page;
    const texts = [title, description, text];
    const stems = stemsOfTexts(texts, language);
    const [titleWords, descriptionWords, textWords] = texts.map((each, index) => indexed(each, stems[index]));
    await this.#sql.transaction((transaction) => {
      remove(transaction, sql`SELECT id FROM web_documents WHERE owner = ${owner} AND key = ${key}`);
      const stored = transaction.first(
        sql`INSERT INTO web_documents (${documents.names}) VALUES (${documents.values(storedPageOf(page))}) RETURNING id`,
        ids.read,
      );
      transaction.run(sql`INSERT INTO web_words (rowid, owner, title, description, text) VALUES (${stored?.id},
        ${marksOf(page)}, ${titleWords}, ${descriptionWords}, ${textWords})`);
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

  search({ owner, query, limit, at, until = Infinity }: IndexSearch): Promise<SearchHit[]> {
    const wanted = wantedOf(query);
    const matching = (words: readonly WantedWord[]) => ({
      match: matchOf(owner, query, [...words.map(wordText), ...wanted.phrases.map(quoted)]),
      owner,
      at,
      ...conditionsOf(query, (term) => both([ownText(owner), termText(term)])),
    });
    const isRanked = wanted.words.length + wanted.phrases.length + phrasesOf(query.titles).length > 0;
    return findPages(
      wanted.words,
      { limit, until },
      {
        all: (words) =>
          isRanked
            ? this.#ranked({ ...matching(words), most: RANKED_MAX, limit })
            : this.#newest({ ...matching(words), most: limit, limit }),
        scored: (word, most) => this.#ranked({ ...matching([word]), most, limit: most }),
      },
    );
  }

  #ranked(matching: Matching): Promise<ScoredHit[]> {
    // How much a word counts in the marks, the title, the description and the text.
    return this.#sql.rows(
      sql`SELECT d.url, d.title, d.description, ${DATED_AT}, -score AS score
        FROM (SELECT web_words.rowid AS id, bm25(web_words, 0.0, 10.0, 3.0, 1.0) AS score ${foundBy(matching)}) AS found
        JOIN web_documents d ON d.id = found.id ORDER BY found.score LIMIT ${matching.limit}`,
      scoredHits.read,
    );
  }

  #newest(matching: Matching): Promise<SearchHit[]> {
    return this.#sql.rows(
      sql`SELECT d.url, d.title, d.description, ${DATED_AT} FROM (SELECT web_words.rowid AS id ${foundBy(matching)}) AS found
        JOIN web_documents d ON d.id = found.id ORDER BY found.id DESC`,
      hits.read,
    );
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

interface Matching {
  /** In FTS5's language. */
  match: string;
  owner: string;
  at: number;
  lists: string;
  without: string;
  since: number;
  until: number;
  /** Pages that are looked at, the newest first. */
  most: number;
  limit: number;
}

const DATED_AT = sql`coalesce(d.published_at, d.stored_at) AS dated_at`;

/** The index gives the newest pages first by itself: it stops at the limit, and computes no rank before. */
function foundBy({ match, owner, at, lists, without, since, until, most }: Matching): Statement {
  return sql`FROM web_words CROSS JOIN web_documents d ON d.id = web_words.rowid
    WHERE web_words MATCH ${match} AND d.kept_until > ${at} AND d.owner = ${owner}
      AND coalesce(d.published_at, d.stored_at) >= ${since} AND coalesce(d.published_at, d.stored_at) < ${until}
      AND NOT EXISTS (SELECT 1 FROM json_each(${without}) part WHERE instr(lower(d.url), part.value) > 0)
      AND NOT EXISTS (SELECT 1 FROM json_each(${lists}) list
        WHERE NOT EXISTS (SELECT 1 FROM json_each(list.value) term
          WHERE instr(lower(d.url), json_extract(term.value, '$.address')) > 0)
        AND (list.key, d.id) NOT IN (SELECT list.key, web_words.rowid
          FROM json_each(${lists}) list CROSS JOIN json_each(list.value) term CROSS JOIN web_words
          WHERE json_extract(term.value, '$.index') IS NOT NULL AND web_words MATCH json_extract(term.value, '$.index')))
    ORDER BY web_words.rowid DESC LIMIT ${most}`;
}

/** The words of a text, and after them their stems: marked by a letter that no text has in the index, so that no phrase finds them. */
function indexed(text: string, stems: ReadonlyMap<string, readonly number[]> | undefined): string {
  const stemWords = [...(stems ?? [])].flatMap(([stem, positions]) =>
    positions.slice(0, STEM_COUNT_MAX).map(() => stemWord(stem)),
  );
  return [indexedText(text), ...stemWords].join(" ");
}

/** A page with more of a stem is hardly a better result, and each takes time. */
const STEM_COUNT_MAX = 3;

/** A letter of private use: a part of words for FTS5, and of no word in a text. */
const STEM = "\u{e000}";

function stemWord(stem: string): string {
  return STEM + stem.replace(":", "");
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

function marked(...words: string[]): string {
  return `owner : (${words.map((word) => quoted([word])).join(" OR ")})`;
}

function ownText(owner: string): string {
  return marked(markWord("owner", owner));
}

function sitesText(sites: readonly string[]): string {
  return marked(...sites.map((site) => markWord("site", reversedHost(site))));
}

function typesText(types: readonly string[]): string {
  return marked(...types.map((type) => markWord("type", type)));
}

function wordText({ spellings, stems }: WantedWord): string {
  return `(${[...spellings, ...stems.map((stem) => [stemWord(stem)])].map(quoted).join(" OR ")})`;
}

function both(parts: readonly string[]): string {
  return `(${parts.join(" AND ")})`;
}

/** A term that the index decides; of no page, if it has no words. */
function termText({ kind, text }: SearchTerm): string {
  const words = wordsOf(text);
  switch (kind) {
    case "site":
      return sitesText([text]);
    case "filetype":
      return typesText([text]);
    case "title":
      return `title : ${quoted(words)}`;
    case "word":
      return wantedWord(text).map(wordText)[0] ?? quoted([]);
    default:
      return quoted(words);
  }
}

/** The query in FTS5's language. Words are letters, marks and digits only, so that none is taken for an operator once it is quoted. */
function matchOf(owner: string, query: SearchQuery, words: readonly string[]): string {
  const wanted = [
    ownText(owner),
    ...(query.sites.length > 0 ? [sitesText(query.sites)] : []),
    ...(query.filetypes.length > 0 ? [typesText(query.filetypes)] : []),
    ...words,
    ...phrasesOf(query.titles).map((each) => `title : ${quoted(each)}`),
    ...indexedAlternatives(query).map((terms) => `(${terms.map(termText).join(" OR ")})`),
  ];
  const excluded = [
    ...phrasesOf(query.excluded).map((each) => `NOT {title description text} : ${quoted(each)}`),
    ...phrasesOf(query.excludedTitles).map((each) => `NOT title : ${quoted(each)}`),
    ...(query.excludedSites.length > 0 ? [`NOT ${sitesText(query.excludedSites)}`] : []),
    ...(query.excludedFiletypes.length > 0 ? [`NOT ${typesText(query.excludedFiletypes)}`] : []),
  ];
  return [both(wanted), ...excluded].join(" ");
}
