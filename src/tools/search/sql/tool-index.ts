/** The tools of all servers by their words, for agents that search them: SQLite's full-text index (BM25), in memory. */
import { Database } from "bun:sqlite";
import { type JsonObject, objectOf, stringOf } from "../../../core/index.ts";

/** Tools that are added before other work goes on. */
const TOOLS_AT_ONCE = 200;

const WORDS_MAX = 32;

/** Shorter words are found as they are: many others begin with them. */
const PREFIX_CHARACTERS_MIN = 4;

/** Words that are in most descriptions, and would take most of the time. */
const COMMON = new Set(
  "a all an and are as at be by for from i in is it its my of on or that the this to with you".split(" "),
);

/**
 * Ranking takes most of the time of a search, and words that most tools have change the order least. So the rarest words of a query
 * are ranked, as long as so many rows have them.
 */
const RANKED_ROWS_MAX = 5_000;

/** Common words that are looked for together: each costs time for the rows that have it. */
const COMMON_TOGETHER_MAX = 3;

/** Words whose rows have been counted since the last change. */
const COUNTS_MAX = 10_000;

const COUNT = `SELECT count(*) AS rows FROM (SELECT 1 FROM tools WHERE tools MATCH ? LIMIT ${RANKED_ROWS_MAX + 1})`;

const UNRANKED = "SELECT rowid FROM tools WHERE tools MATCH ?";

/** The name counts more than the description, and that more than the arguments. */
const RANKED = `SELECT rowid FROM tools WHERE tools MATCH ? AND rank MATCH 'bm25(8.0, 2.0, 1.0)' ORDER BY rank`;

/** Lists in the index beyond those of a search; the ones that were searched long ago are dropped. */
const LISTS_MAX = 500;

/** The tools of a server by name. The same map is never changed. */
export type IndexedList = ReadonlyMap<string, { definition: JsonObject }>;

export interface IndexedTool {
  /** The key of its list: the name of a server, and behind a space whose list it is. */
  list: string;
  tool: string;
}

interface KnownList {
  list: IndexedList;
  rows: number[];
}

export class ToolIndex {
  readonly #database = new Database(":memory:");
  readonly #lists = new Map<string, KnownList>();
  readonly #tools = new Map<number, IndexedTool>();
  /** By word, up to the bound of rows to rank. */
  readonly #counts = new Map<string, number>();
  #lastRow = 0;
  #updating: Promise<void> = Promise.resolve();

  constructor() {
    this.#database.run("CREATE VIRTUAL TABLE tools USING fts5(name, text, arguments, tokenize = 'porter unicode61')");
  }

  /** Resolves when the index has these lists. Only lists that have changed since cost time. */
  update(lists: ReadonlyMap<string, IndexedList>): Promise<void> {
    const updated = this.#updating.then(() => this.#update(lists));
    this.#updating = updated.catch(() => undefined);
    return updated;
  }

  /**
   * The tools with any of the words, the best first; behind those with the rarer words come those that have words of most tools alone.
   * To be read at once: the next search ends this one.
   */
  *search(query: string): Generator<IndexedTool, void> {
    const words = [...wordsOf(query).matchAll(/[\p{L}\p{N}]+/gu)]
      .map(([word]) => word.toLowerCase())
      .filter((word) => !COMMON.has(word))
      .slice(0, WORDS_MAX)
      .map((word) => (word.length < PREFIX_CHARACTERS_MIN ? `"${word}"` : `"${word}"*`));
    const { rare, common } = this.#byFrequency([...new Set(words)]);
    const seen = new Set<number>();
    for (const [statement, match] of steps(rare, common)) {
      for (const { rowid } of this.#database.query<{ rowid: number }, [string]>(statement).iterate(match)) {
        const tool = this.#tools.get(rowid);
        if (tool === undefined || seen.has(rowid)) continue;
        seen.add(rowid);
        yield tool;
      }
    }
  }

  /** The rarest words, which can be ranked, and the others. */
  #byFrequency(words: readonly string[]): { rare: string[]; common: string[] } {
    const [rare, common]: [string[], string[]] = [[], []];
    let rows = 0;
    const counted = words.map((word): [string, number] => [word, this.#countOf(word)]);
    for (const [word, count] of counted.toSorted(([, a], [, b]) => a - b)) {
      rows += count;
      if (rows <= RANKED_ROWS_MAX) rare.push(word);
      else common.push(word);
    }
    return { rare, common };
  }

  #countOf(word: string): number {
    const known = this.#counts.get(word);
    if (known !== undefined) return known;
    const counted = this.#database.query<{ rows: number }, [string]>(COUNT).get(word)?.rows ?? 0;
    if (this.#counts.size >= COUNTS_MAX) this.#counts.clear();
    this.#counts.set(word, counted);
    return counted;
  }

  async #update(lists: ReadonlyMap<string, IndexedList>): Promise<void> {
    for (const [key, list] of lists) {
      const known = this.#lists.get(key);
      // Moved to the end: the lists that were searched last.
      this.#lists.delete(key);
      if (known?.list === list) {
        this.#lists.set(key, known);
        continue;
      }
      this.#counts.clear();
      for (const row of known?.rows ?? []) this.#remove(row);
      const rows: number[] = [];
      this.#lists.set(key, { list, rows });
      for (const [tool, { definition }] of list) {
        if (rows.length % TOOLS_AT_ONCE === TOOLS_AT_ONCE - 1) await Bun.sleep(0);
        rows.push(this.#add({ list: key, tool }, definition));
      }
    }
    for (const [key, { rows }] of this.#lists) {
      if (this.#lists.size <= LISTS_MAX + lists.size) break;
      this.#lists.delete(key);
      this.#counts.clear();
      for (const row of rows) this.#remove(row);
    }
  }

  #add(tool: IndexedTool, { title, description, inputSchema }: JsonObject): number {
    const row = (this.#lastRow += 1);
    this.#tools.set(row, tool);
    const properties = Object.keys(objectOf(objectOf(inputSchema)?.["properties"]) ?? {});
    this.#database
      .query("INSERT INTO tools (rowid, name, text, arguments) VALUES (?, ?, ?, ?)")
      .run(
        row,
        wordsOf(`${tool.list.split(" ", 1)[0] ?? ""} ${tool.tool} ${stringOf(title)}`),
        stringOf(description),
        wordsOf(properties.join(" ")),
      );
    return row;
  }

  #remove(row: number): void {
    this.#tools.delete(row);
    this.#database.query("DELETE FROM tools WHERE rowid = ?").run(row);
  }
}

/** Statements of a search, and their match. Of words that most tools have, those in the name count, and then all together. */
function steps(rare: readonly string[], common: readonly string[]): [string, string][] {
  const made: [string, string][] = [];
  if (rare.length > 0) made.push([RANKED, rare.join(" OR ")]);
  if (common.length === 0) return made;
  const first = common.slice(0, COMMON_TOGETHER_MAX);
  const [all, some] = [first.join(" AND "), first.join(" OR ")];
  const matches = [`name : (${all})`, all, `name : (${some})`, common.join(" OR ")];
  return [...made, ...matches.map((match): [string, string] => [UNRANKED, match])];
}

/** A name such as getIssue is two words, and one. */
function wordsOf(text: string): string {
  return `${text} ${text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")}`;
}
