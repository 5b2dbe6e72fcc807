/** One request to a search back end that the operator has configured. */
import {
  abortSignalOf,
  type CallSignal,
  type Fetch,
  GatewayError,
  type JsonObject,
  objectOf,
  parseObject,
} from "../../../core/index.ts";
import { readBounded } from "../../../streaming/index.ts";
import type { SearchHit } from "../query.ts";

/** Bytes of an answer: a hundred results have some hundred kilobytes. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

const TIMEOUT_MS = 20_000;

export interface JsonQuestion {
  url: string;
  init?: RequestInit;
  signal: CallSignal;
}

/** Rejects with a `GatewayError` for any other answer than a JSON object with status 200. */
export async function askJson(fetch: Fetch, { url, init, signal }: JsonQuestion): Promise<JsonObject> {
  const timed = AbortSignal.any([abortSignalOf(signal), AbortSignal.timeout(TIMEOUT_MS)]);
  let answer: Response;
  let text: string | undefined;
  try {
    answer = await fetch(url, { ...init, signal: timed, redirect: "error" });
    const read = answer.body === null ? undefined : await readBounded(answer.body, ANSWER_BYTES_MAX);
    text = read !== undefined && "bytes" in read ? Buffer.from(read.bytes).toString() : undefined;
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new GatewayError("upstream_unreachable", "The search engine could not be reached.", { cause });
  }
  if (answer.status === 429) {
    throw new GatewayError("upstream_unreachable", "The search engine has too many requests.", {
      retryAfterSeconds: 5,
    });
  }
  const body = text === undefined ? undefined : parseObject(text);
  if (answer.status === 200 && body !== undefined) return body;
  throw new GatewayError("upstream_invalid_answer", `The search engine answered ${answer.status}.`);
}

/** The answer; undefined if it failed after others that had results: engines permit few requests a second. */
export async function nextPage(hits: number, answer: Promise<JsonObject>): Promise<JsonObject | undefined> {
  try {
    return await answer;
  } catch (reason) {
    if (hits === 0) throw reason;
    return undefined;
  }
}

/** A result of such an answer; undefined without an address. `description` names its member. */
export function hitOf(value: unknown, description: "content" | "description" | "snippet"): SearchHit | undefined {
  const { url, title, [description]: text, page_age, publishedDate, date, ...more } = objectOf(value) ?? {};
  if (typeof url !== "string") return undefined;
  return {
    url,
    title: typeof title === "string" ? title : "",
    description: typeof text === "string" ? text : "",
    datedAt: momentOf(page_age ?? publishedDate ?? date),
    image: imageOf(more),
  };
}

/** Of a picture's own members, SearXNG's, Brave's and Firecrawl's, or of the small picture beside a text. */
function imageOf({ img_src, properties, imageUrl, thumbnail, ...more }: JsonObject): SearchHit["image"] {
  const own = objectOf(properties);
  const urls = [img_src, own?.["url"], imageUrl, objectOf(thumbnail)?.["src"], thumbnail];
  const url = urls.find((each): each is string => typeof each === "string" && URL.canParse(each));
  if (url === undefined) return undefined;
  return {
    url,
    width: sizeOf(more["imageWidth"] ?? own?.["width"]),
    height: sizeOf(more["imageHeight"] ?? own?.["height"]),
  };
}

function sizeOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Milliseconds; a time without a zone is UTC. Engines have dates in several forms: undefined for one that names no moment. */
function momentOf(date: unknown): number | undefined {
  if (typeof date !== "string") return undefined;
  const at = Date.parse(/^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(date) ? `${date}Z` : date);
  return Number.isNaN(at) ? undefined : at;
}
