/** Bounds of a request's tokens by its bytes, the same in every dialect (`docs/decisions`). */

/** Tokens of one image. No known model counts more, at any size. */
export const IMAGE_TOKENS_MAX = 20_000;

/** Tokens that a chat template adds around a message. */
export const MESSAGE_TOKENS_MAX = 16;

/**
 * Tokens of a part whose size the request doesn't contain: a stored file, a document, a video, audio given by URL. Code
 * that knows the model's context window lowers it to that.
 */
export const UNKNOWN_PART_TOKENS = 1_000_000;

/** Bytes of text per token, used if an upstream reports no count. */
const BYTES_PER_TOKEN = 4;

/** Estimates the tokens of a text from its bytes. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
