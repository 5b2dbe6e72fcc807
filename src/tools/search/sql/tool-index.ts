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

  /** The tools with any of the words, the best first. To be read at once: the next search ends this one. */
  *search(query: string): Generator<IndexedTool, void> {
    const words = [...wordsOf(query).matchAll(/[\p{L}\p{N}]+/gu)]
      .map(([word]) => word.toLowerCase())
      .filter((word) => !COMMON.has(word))
      .slice(0, WORDS_MAX)
      .map((word) => (word.length < PREFIX_CHARACTERS_MIN ? `"${word}"` : `"${word}"*`));
    if (words.length === 0) return;
    for (const { rowid } of this.#database.query<{ rowid: number }, [string]>(RANKED).iterate(words.join(" OR "))) {
      const tool = this.#tools.get(rowid);
      if (tool !== undefined) yield tool;
    }
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

/** A name such as getIssue is two words, and one. */
function wordsOf(text: string): string {
  return `${text} ${text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")}`;
}
