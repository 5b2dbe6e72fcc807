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
