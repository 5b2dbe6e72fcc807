/**
 * Searches among the tools that a request defers. Nothing is kept between them: an index would cost what a search does, and most
 * answers have one search.
 */
import type { RE2JS } from "re2js";
import { type JsonObject, objectOf, parseObject, Slices, stringOf } from "../../core/index.ts";
import type { DeferredTool } from "../requests/deferred-tools.ts";
import type { SearchAction } from "../requests/tool-search.ts";
import { Bm25, wordsOf } from "./bm25.ts";
import { failedOutcome, type ToolErrorCode, type ToolOutcome } from "./tool-outcome.ts";

/** Results of a search, and the most that it may ask for. */
const FOUND = 5;
const FOUND_MAX = 20;

const QUERY_CHARACTERS_MAX = 500;

/** Different words of a query: each tool is counted by each of them. */
const QUERY_WORDS_MAX = 32;

/** As at Anthropic. */
const PATTERN_CHARACTERS_MAX = 200;

/** Instructions of a pattern: their number times the characters of a text is its time, some 20 ms at the most. */
const INSTRUCTIONS_MAX = 500;

/** The processor time of one search. */
const SPENT_MS_MAX = 2_000;

/** The part of a tool that is searched. */
const TEXT_CHARACTERS_MAX = 2_000;

/** Schemas may be deep. */
const DEPTH_MAX = 4;

/** How often the words of a name count. */
const NAME_WEIGHT = 3;

interface ToolSearching {
  tools: readonly DeferredTool[];
  action: SearchAction;
  /** The model's JSON. */
  arguments: string;
}

/** Never rejects: a search that cannot be performed is a result. */
export async function searchTools({ tools, action, arguments: text }: ToolSearching): Promise<ToolOutcome> {
  const input = parseObject(text);
  if (input === undefined) return failed("invalid_tool_input", {}, "The arguments are no JSON object.");
  const most = limitIn(input);
  if (action === "tool_search_tool_regex") return matching(tools, input, most);
  const query = stringOf(input["query"]).slice(0, QUERY_CHARACTERS_MAX);
  const words = [...new Set(searchWords(query))].slice(0, QUERY_WORDS_MAX);
  if (words.length === 0) return failed("invalid_tool_input", input, "The query has no words.");
  const index = new Bm25(words);
  const slices = new Slices({ spentMsMax: SPENT_MS_MAX });
  for (const tool of tools) {
    index.add(wordsIn(tool));
    if (slices.isOver && !(await slices.next())) return failed("execution_time_exceeded", input);
  }
  const scores: number[] = [];
  for (const score of index.scores()) {
    scores.push(score);
    if (slices.isOver) await slices.next();
  }
  const ranked = [...scores.keys()].filter((place) => (scores[place] ?? 0) > 0);
  ranked.sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
  return foundOutcome(
    input,
    ranked.slice(0, most).flatMap((place) => tools[place] ?? []),
  );
}

async function matching(tools: readonly DeferredTool[], input: JsonObject, most: number): Promise<ToolOutcome> {
  const given = stringOf(input["pattern"]) || stringOf(input["query"]);
  const read = await patternOf(given);
  if (typeof read === "string") return failed("invalid_tool_input", input, read);
  const found: DeferredTool[] = [];
  const slices = new Slices({ spentMsMax: SPENT_MS_MAX });
  for (const tool of tools) {
    if (textsOf(tool).some((text) => read.matcher(text).find())) found.push(tool);
    if (found.length === most) break;
    if (slices.isOver && !(await slices.next())) return failed("execution_time_exceeded", input);
  }
  return foundOutcome(input, found);
}

/** An expression of Python's, as one of RE2, whose time is linear; or why it is none. */
async function patternOf(pattern: string): Promise<RE2JS | string> {
  if (pattern === "") return "The pattern is empty.";
  if (pattern.length > PATTERN_CHARACTERS_MAX)
    return `The pattern has ${pattern.length} characters; ${PATTERN_CHARACTERS_MAX} are permitted.`;
  // The library takes 5 MB.
  const { RE2JS } = await import("re2js");
  try {
    const compiled = RE2JS.compile(
      pattern.replaceAll(/\\(.)/gs, (whole, escaped) => (escaped === "Z" ? String.raw`\z` : whole)),
    );
    return compiled.programSize() > INSTRUCTIONS_MAX ? "The pattern repeats too much." : compiled;
  } catch {
    return "This is no regular expression that can be searched for: look-around, back references, conditions and possessive repetitions are not supported.";
  }
}

function limitIn({ limit }: JsonObject): number {
  return typeof limit === "number" && Number.isInteger(limit) && limit > 0 ? Math.min(limit, FOUND_MAX) : FOUND;
}

function foundOutcome(input: JsonObject, found: readonly DeferredTool[]): ToolOutcome {
  return { input, text: foundText(found), found, error: undefined, pages: [], cost: 0n, counts: true };
}

function failed(code: ToolErrorCode, input: JsonObject, reason?: string): ToolOutcome {
  const outcome = failedOutcome(code, input, { message: reason });
  return reason === undefined ? outcome : { ...outcome, served: reason };
}

/** The part of a name that counts more, and that a model is given. */
const NAME_CHARACTERS_MAX = 128;

/** A result for the model: names alone, since the definitions are among its tools from now on. */
export function foundText(found: readonly Pick<DeferredTool, "name" | "namespace">[]): string {
  if (found.length === 0) return "No tools were found. Search for other words, or go on without.";
  const names = found.map(({ name, namespace }) =>
    namespace === undefined ? quoted(name) : `${quoted(name)} (of ${quoted(namespace.name)})`,
  );
  return `These tools can be called now: ${names.join(", ")}.`;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, NAME_CHARACTERS_MAX));
}

/** The names, the description, and the arguments with theirs: the beginning of all of them together. */
function textsOf({ name, namespace, description, parameters }: DeferredTool): string[] {
  const texts = new SearchedTexts();
  texts.add(name);
  if (namespace !== undefined) {
    texts.add(namespace.name);
    texts.add(namespace.description);
  }
  texts.add(description);
  addArguments(parameters, texts, DEPTH_MAX);
  return texts.list;
}

class SearchedTexts {
  readonly list: string[] = [];
  #room = TEXT_CHARACTERS_MAX;

  get isFull(): boolean {
    return this.#room <= 0;
  }

  add(text: string): void {
    const part = text.slice(0, this.#room);
    this.#room -= part.length;
    if (part !== "") this.list.push(part);
  }
}

function addArguments(schema: JsonObject, texts: SearchedTexts, depth: number): void {
  const properties = objectOf(schema["properties"]) ?? {};
  // A list of all of them, with their values, would take its time first: a request may have tens of thousands.
  for (const name in properties) {
    if (texts.isFull) return;
    const own = objectOf(properties[name]) ?? {};
    texts.add(`${name} ${stringOf(own["description"])}`);
    if (depth > 1) addArguments(objectOf(own["items"]) ?? own, texts, depth - 1);
  }
}

function wordsIn(tool: DeferredTool): string[] {
  const name = searchWords(tool.name.slice(0, NAME_CHARACTERS_MAX));
  const others = Array.from({ length: NAME_WEIGHT - 1 }, () => name).flat();
  return [...others, ...searchWords(textsOf(tool).join("\n"))];
}

/** Of a text in ASCII, as most are: three times as fast. */
const PARTS = /[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+[a-z]*/g;

/** Words of names, too: the parts of `getHTTPStatus` and `get_http_status` are the same. The plural of a word is the word. */
function searchWords(text: string): string[] {
  return partsOf(text).map((word) =>
    word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word,
  );
}

function partsOf(text: string): string[] {
  if (Buffer.byteLength(text) === text.length) return (text.match(PARTS) ?? []).map((word) => word.toLowerCase());
  const parted = text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return wordsOf(parted);
}
