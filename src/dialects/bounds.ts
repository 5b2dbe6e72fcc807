import type { SizeOf } from "./codec.ts";

/** What bounds the tokens of a request by its bytes, in every dialect alike (`docs/decisions`). */

/** No known model counts more for one picture, whatever its size. */
export const IMAGE_TOKENS_MAX = 20_000;

/** Tokens that a chat template adds around a message. */
export const MESSAGE_TOKENS_MAX = 16;

/**
 * For a part whose size nothing in the request tells: a stored file, a document, a video, sound by its address. Whoever
 * knows the model's context window lowers it to that.
 */
export const UNKNOWN_PART_TOKENS = 1_000_000;

/** Bytes of text that make a token, where an upstream leaves the counting to us. */
const BYTES_PER_TOKEN = 4;

/** The tokens that a text of so many bytes is taken for. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Measures a request, and notes what of it only a bound is known of. */
export class Measure {
  readonly sizeOf: SizeOf;
  /** The parts whose size is not known, and the tokens that the bound holds for them. */
  readonly unmeasured = { parts: 0, tokens: 0 };

  constructor(sizeOf: SizeOf) {
    this.sizeOf = sizeOf;
  }

  /** A part that may be as many tokens. */
  atMost(tokens: number): number {
    this.unmeasured.parts += 1;
    this.unmeasured.tokens += tokens;
    return tokens;
  }
}

/** Base64 or a `data:` URL, not an address to fetch from: some upstreams take either in the same field. */
export function isData(value: unknown): boolean {
  return typeof value === "string" && !/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** Bytes of a value as JSON; none for what is not there. */
export function jsonBytes(value: unknown, { sizeOf }: Measure): number {
  return value === undefined || value === null ? 0 : sizeOf(JSON.stringify(value));
}
