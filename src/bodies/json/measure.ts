import { z } from "zod";
import {
  GatewayError,
  IMAGE_TOKENS_MAX,
  type JsonObject,
  listOf,
  objectOf,
  tokensOfAudio,
  UNKNOWN_PART_TOKENS,
  type UsageBucket,
  type WorkBound,
} from "../../core/index.ts";

declare const opaque: unique symbol;

/**
 * A string of an opaque field as the parser leaves it: read as Latin-1, and truncated if long. Such a body costs a
 * fraction of decoding it, but the text must not be used: only `SizeOf` accepts it.
 */
export interface OpaqueText {
  readonly [opaque]: true;
}

/** An upper bound of the bytes of UTF-8 of a string in an opaque field. */
export type SizeOf = (text: OpaqueText) => number;

/** The schema of a string within an opaque field. */
export const opaqueText: z.ZodType<OpaqueText, string> = z.string() as unknown as z.ZodType<OpaqueText, string>;

export function isOpaqueText(value: unknown): value is OpaqueText {
  return typeof value === "string";
}

/** Text to be measured: a value of an opaque field as JSON, or decoded text. */
export function asOpaque(text: string): OpaqueText {
  return text as unknown as OpaqueText;
}

/** A measure of opaque text, given a measure of its remaining characters. */
export function sizeOfBy(measure: (text: string) => number): SizeOf {
  return measure as unknown as SizeOf;
}

/** The size of decoded text, such as a form's fields. */
export const decodedSizeOf: SizeOf = sizeOfBy((text) => Buffer.byteLength(text));

/** Shared by all requests, since most have one of these. */
const cacheWrites: Readonly<Record<"default" | "long", readonly UsageBucket[]>> = {
  default: ["cacheWrite5m"],
  long: ["cacheWrite5m", "cacheWrite1h"],
};

/** The lifetimes of caches: Anthropic's 5 minutes and an hour, OpenAI's 30 minutes and 12 hours. Long ones cost more. */
const shortLifetimes: ReadonlySet<unknown> = new Set(["5m", "30m"]);
const longLifetimes: ReadonlySet<unknown> = new Set(["1h", "12h"]);

function unknownLifetime(param: string): GatewayError {
  const known = [...shortLifetimes, ...longLifetimes].join(", ");
  return new GatewayError("validation_failed", `${param}: must be one of ${known}, whose prices are known.`, { param });
}

/**
 * Measures a request, and records the facts that are not in the number of its tokens: parts of which only a bound or nothing is
 * known, parts that have other prices than text, and whether the request asks for a cache.
 */
export class Measure {
  readonly sizeOf: SizeOf;
  readonly #unsizedParts = { parts: 0, tokens: 0 };
  #imageTokens = 0;
  #audioTokens = 0;
  #caches = false;
  #cachesForLong = false;

  constructor(sizeOf: SizeOf) {
    this.sizeOf = sizeOf;
  }

  /** A part of unknown size. Returns the tokens to hold for it. */
  unknown(): number {
    return this.#unsized(UNKNOWN_PART_TOKENS);
  }

  /** An image. Returns the most tokens that it can have. */
  image(): number {
    this.#imageTokens += IMAGE_TOKENS_MAX;
    return this.#unsized(IMAGE_TOKENS_MAX);
  }

  /** Audio in base64. Returns the most tokens that it can have. */
  audio(base64: unknown): number {
    const tokens = tokensOfAudio(jsonBytes(base64, this));
    this.#audioTokens += tokens;
    return tokens;
  }

  /** A document in base64. Other documents than plain text have pages, whose tokens do not follow from their bytes. */
  document(part: unknown, isText: boolean): number {
    const bytes = jsonBytes(part, this);
    return isText ? bytes : this.#unsized(Math.min(bytes, UNKNOWN_PART_TOKENS));
  }

  /** A text, or a list of parts, each of which `tokensOf` measures. */
  content(content: unknown, tokensOf: (part: JsonObject, measure: Measure) => number): number {
    if (isOpaqueText(content)) return this.sizeOf(content);
    let tokens = 0;
    for (const part of listOf(content)) tokens += tokensOf(objectOf(part) ?? {}, this);
    return tokens;
  }

  /** A part with audio, as in OpenAI's dialects. */
  inputAudio({ input_audio }: JsonObject): number {
    const data = objectOf(input_audio)?.["data"];
    return isData(data) ? this.audio(data) : this.unknown();
  }

  /** A part with a file, as in OpenAI's dialects. */
  file(part: JsonObject, { file_data, file_id, file_url }: JsonObject): number {
    const isWhole = isData(file_data) && file_id === undefined && file_url === undefined;
    return isWhole ? this.document(part, isTextData(file_data)) : Math.max(this.unknown(), jsonBytes(part, this));
  }

  /** A part that may be marked for a cache, by Anthropic's mark or OpenAI's. Throws 422 like `cached`. */
  marked({ cache_control, prompt_cache_breakpoint }: JsonObject): void {
    if (cache_control !== undefined) this.cached(cache_control, "cache_control");
    if (prompt_cache_breakpoint !== undefined) this.cached(prompt_cache_breakpoint, "prompt_cache_breakpoint");
  }

  /** The options of a cache, in a member of this name. Throws 422 for a lifetime without a known price. */
  cached(options: unknown, member: string): void {
    const details = objectOf(options);
    if (details === undefined) return;
    this.#caches = true;
    const ttl = details["ttl"] ?? undefined;
    if (ttl === undefined || shortLifetimes.has(ttl)) return;
    if (!longLifetimes.has(ttl)) throw unknownLifetime(`${member}.ttl`);
    this.#cachesForLong = true;
  }

  /**
   * The parts of the bound besides the number of tokens. `cachesByItself`: the upstream may write a cache without being
   * asked.
   */
  bound(cachesByItself: boolean): Pick<WorkBound, "inputParts" | "inputBuckets" | "unsizedParts"> {
    const bound: ReturnType<Measure["bound"]> = { unsizedParts: this.#unsizedParts };
    if (this.#imageTokens + this.#audioTokens > 0) {
      bound.inputParts = { inputImage: this.#imageTokens, inputAudio: this.#audioTokens };
    }
    if (this.#cachesForLong) bound.inputBuckets = cacheWrites.long;
    else if (cachesByItself || this.#caches) bound.inputBuckets = cacheWrites.default;
    return bound;
  }

  #unsized(tokens: number): number {
    this.#unsizedParts.parts += 1;
    this.#unsizedParts.tokens += tokens;
    return tokens;
  }
}

/** Base64 or a `data:` URL rather than a URL to fetch: some upstreams accept either in the same field. */
export function isData(value: unknown): boolean {
  return typeof value === "string" && !/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** The bytes of a value as JSON; zero if it is undefined. */
export function jsonBytes(value: unknown, { sizeOf }: Measure): number {
  return value === undefined || value === null ? 0 : sizeOf(asOpaque(JSON.stringify(value)));
}

/** Whether a `data:` URL contains plain text. */
function isTextData(value: unknown): boolean {
  return typeof value === "string" && /^data:(?:text\/|application\/(?:json|xml))/i.test(value);
}
