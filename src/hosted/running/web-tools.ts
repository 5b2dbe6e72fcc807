/** The uses of hosted tools: searches and pages, as paid work of its own under the call's id. */
import { setImmediate } from "node:timers/promises";
import type { PaidAnswer, PaidRequest } from "../../charges/index.ts";
import {
  GatewayError,
  type JsonObject,
  type Nano,
  objectOf,
  objectsOf,
  parseObject,
  stringOf,
} from "../../core/index.ts";
import { cleanObject } from "../../tools/index.ts";
import type { CitedSource, Sources } from "../citations/sources.ts";
import type { WebTool } from "../requests/asked-tools.ts";
import type { WebFunction } from "../requests/functions.ts";
import { hostIn } from "../requests/web-options.ts";
import { fenced } from "./fence.ts";
import type { GivenAddresses } from "./given-addresses.ts";
import { passagesOf } from "./passages.ts";
import { endsLoop, readPart } from "./part-of-loop.ts";
import { failedOutcome, type FoundPage, type ToolErrorCode, type ToolOutcome } from "./tool-outcome.ts";

/** Performs requests for pages. */
export interface PageFinder {
  search(request: PaidRequest): Promise<PaidAnswer>;
  scrape(request: PaidRequest): Promise<PaidAnswer>;
}

const QUERY_CHARACTERS_MAX = 400;
const RESULTS = 8;
const TIMEOUT_MS = 30_000;
const ADDRESS_CHARACTERS_MAX = 2_000;

/** The characters of one result, by the size that is asked for; of `low` only the descriptions are taken. */
const resultCharacters = { low: 0, medium: 1_500, high: 4_000 } as const;

/** The most characters of one page, and by default. */
const PAGE_CHARACTERS_MAX = 400_000;
const PAGE_CHARACTERS = 60_000;
const CHARACTERS_PER_TOKEN = 4;

/** Of a search within a page. */
const FOUND_CHARACTERS = 6_000;

/** One use of a tool. */
export interface ToolUse {
  called: WebFunction;
  /** The model's JSON. */
  arguments: string;
  /** Makes the request of a piece of paid work, given its body. */
  requestOf: (body: JsonObject) => PaidRequest;
  sources: Sources;
  given: GivenAddresses;
  /** Unknown outside of the call. */
  nonce: string;
}

/** Rejects with `insufficient_credits` alone, and with the reason of an abort: every other failure is a result. */
export async function useTool(pages: PageFinder, use: ToolUse): Promise<ToolOutcome> {
  const input = parseObject(use.arguments);
  if (input === undefined) return failedOutcome("invalid_input", {});
  return use.called.action === "web_search" ? search(pages, use, input) : open(pages, use, input);
}

async function search(pages: PageFinder, use: ToolUse, input: JsonObject): Promise<ToolOutcome> {
  const { tool } = use.called;
  const query = stringOf(input["query"]).trim();
  const shown = { query };
  if (query === "") return failedOutcome("invalid_input", shown);
  if (query.length > QUERY_CHARACTERS_MAX) return failedOutcome("query_too_long", shown);
  const body = {
    query,
    limit: RESULTS,
    timeout: TIMEOUT_MS,
    ...(tool.allowedDomains.length > 0 && { includeDomains: tool.allowedDomains }),
    ...(tool.blockedDomains.length > 0 && { excludeDomains: tool.blockedDomains }),
    ...(tool.size !== "low" && { scrapeOptions: { formats: ["markdown"], onlyMainContent: true } }),
  };
  const answered = await perform(() => pages.search(use.requestOf(body)));
  if ("error" in answered) return { ...failedOutcome(answered.error, shown), cost: answered.cost };
  const results = objectsOf(objectOf(answered.body["data"])?.["web"]);
  const found: FoundPage[] = [];
  for (const page of results) {
    found.push(pageOf(page, query, tool));
    // Each takes some milliseconds.
    await setImmediate();
  }
  const sources = found.map((page) => ({ ...use.sources.add(page), text: page.text }));
  await use.given.add(results);
  const text = found.length === 0 ? "No pages were found." : sources.map(describeSource).join("\n\n");
  return {
    input: shown,
    text: fenced(text, use.nonce),
    error: undefined,
    pages: found,
    cost: answered.cost,
    counts: true,
  };
}

export function describeSource({ number, title, url, text }: CitedSource): string {
  return [`[${number}] ${title}`, url, text].join("\n");
}

function pageOf(page: JsonObject, query: string, { size }: WebTool): FoundPage {
  const [url, description] = [stringOf(page["url"]), stringOf(page["description"])];
  const whole = stringOf(page["markdown"]);
  const part = whole === "" ? "" : passagesOf(whole, query, resultCharacters[size]);
  return { url, title: stringOf(page["title"]) || url, text: part === "" ? description : part };
}

async function open(pages: PageFinder, use: ToolUse, input: JsonObject): Promise<ToolOutcome> {
  const { action, tool } = use.called;
  const [url, pattern] = [stringOf(input["url"]).trim(), stringOf(input["pattern"])];
  const shown = action === "find_in_page" ? { url, pattern } : { url };
  if (url === "" || (action === "find_in_page" && pattern === "")) return failedOutcome("invalid_input", shown);
  if (url.length > ADDRESS_CHARACTERS_MAX) return failedOutcome("url_too_long", shown);
  if (!use.given.has(url) || !isPermitted(url, tool)) return failedOutcome("url_not_allowed", shown);
  const body = { url, formats: ["markdown"], onlyMainContent: true, timeout: TIMEOUT_MS };
  const answered = await perform(() => pages.scrape(use.requestOf(body)));
  if ("error" in answered) {
    const error = answered.error === "too_many_requests" ? answered.error : "url_not_accessible";
    return { ...failedOutcome(error, shown, { counts: true }), cost: answered.cost };
  }
  const data = objectOf(answered.body["data"]) ?? {};
  const whole = stringOf(data["markdown"]);
  const tokens = tool.contentTokensMax;
  const most = tokens === undefined ? PAGE_CHARACTERS : Math.min(tokens * CHARACTERS_PER_TOKEN, PAGE_CHARACTERS_MAX);
  const text = action === "find_in_page" ? foundIn(whole, pattern) : partOf(whole, 0, most);
  const page = { url, title: stringOf(objectOf(data["metadata"])?.["title"]) || url, text };
  // Of the whole page: the model chooses what is cut, and a cut address is another one.
  await use.given.add([url, whole]);
  const shownText = fenced(describeSource({ ...use.sources.add(page), text }), use.nonce);
  return { input: shown, text: shownText, error: undefined, pages: [page], cost: answered.cost, counts: true };
}

/** A part of a text, without words that would be cut at its ends: a cut address leads to another place. */
function partOf(text: string, from: number, to: number): string {
  const isCutAt = (at: number): boolean => at > 0 && at < text.length && /\S\S/.test(text.slice(at - 1, at + 1));
  const [first, last] = [
    isCutAt(from) ? afterWord(text, from, to) : from,
    isCutAt(to) ? wordStart(text, from, to) : to,
  ];
  return text.slice(first, Math.max(first, last));
}

/** The end of the word at `from`, at most `to`. */
function afterWord(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && !isSpaceAt(text, at)) at += 1;
  return at;
}

/** The beginning of the word that ends at `to`, at least `from`. */
function wordStart(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && !isSpaceAt(text, at - 1)) at -= 1;
  return at;
}

const isSpaceAt = (text: string, at: number): boolean => /\s/.test(text.charAt(at));

/** The surroundings of a text in a page. */
function foundIn(text: string, pattern: string): string {
  const [low, wanted] = [text.toLowerCase(), pattern.toLowerCase()];
  const around = 400;
  const found: string[] = [];
  let room = FOUND_CHARACTERS;
  for (let at = low.indexOf(wanted); at !== -1 && room > 0; at = low.indexOf(wanted, at + around)) {
    const from = Math.max(0, at - around);
    const part = partOf(text, from, Math.min(at + wanted.length + around, from + room));
    found.push(part);
    room -= Math.max(part.length, 1);
  }
  return found.length === 0 ? "The page does not contain this text." : found.join("\n…\n");
}

type Performed = { body: JsonObject; cost: Nano } | { error: ToolErrorCode; cost: Nano };

async function perform(ask: () => Promise<PaidAnswer>): Promise<Performed> {
  try {
    const answer = await ask();
    const { body, cost } = await readPart(answer);
    if (answer.status >= 400 || body === undefined) return { error: "unavailable", cost };
    return { body: cleanObject(body, []), cost };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || endsLoop.has(thrown.code)) throw thrown;
    return { error: errors[thrown.status] ?? "unavailable", cost: 0n };
  }
}

const errors: Readonly<Record<number, ToolErrorCode>> = { 422: "invalid_input", 429: "too_many_requests" };

function isPermitted(url: string, { allowedDomains, blockedDomains }: WebTool): boolean {
  const host = hostIn(url);
  const isOf = (domain: string): boolean => host === domain || (host?.endsWith(`.${domain}`) ?? false);
  return host !== undefined && !blockedDomains.some(isOf) && (allowedDomains.length === 0 || allowedDomains.some(isOf));
}
