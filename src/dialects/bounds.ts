import type { SizeOf } from "./dialect.ts";

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

/** Base64 or a `data:` URL, not an address to fetch from: some upstreams take either in the same field. */
export function isData(value: unknown): boolean {
  return typeof value === "string" && !/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** Bytes of a value as JSON; none for what is not there. */
export function jsonBytes(value: unknown, sizeOf: SizeOf): number {
  return value === undefined || value === null ? 0 : sizeOf(JSON.stringify(value));
}
