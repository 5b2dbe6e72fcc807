/** Bounds of a request's tokens by its bytes, the same in every dialect (`docs/decisions`). */

/** Tokens of one image. No known model counts more, at any size. */
export const IMAGE_TOKENS_MAX = 20_000;

/** Tokens of a generated square of 1024 pixels by quality, from OpenAI's guide "Image generation". */
const squareTokens: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
const SQUARE_PIXELS = 1_024 * 1_024;

/** Tokens of a generated image of OpenAI's: `low` and `medium` quality have fewer than any other. */
export function generatedImageTokens(pixels: number, quality: string): number {
  const square = squareTokens[quality] ?? squareTokens["high"] ?? 0;
  return Math.ceil((square * pixels) / SQUARE_PIXELS);
}

/** The pixels of a size such as `1024x1536`; undefined for any other text. */
export function pixelsOf(size: string | null | undefined): number | undefined {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? "") ?? [];
  return width === undefined ? undefined : Number(width) * Number(height);
}

/** Tokens that a chat template adds around a message. */
export const MESSAGE_TOKENS_MAX = 16;

/**
 * Tokens held for a part whose size the request doesn't tell: a stored file, a document other than plain text, a video,
 * audio given by URL, the pages that a hosted tool reads, the output of a program. It is an assumption and no bound (`docs/money.md`): most parts
 * are smaller, and holding a whole context window for each would refuse callers who have enough. Code that knows the
 * model's context window lowers it to that.
 */
export const UNKNOWN_PART_TOKENS = 50_000;

/**
 * Tokens held for what one search of a hosted tool brings in: the fixed block that OpenAI bills for it with gpt-4o-mini and
 * gpt-4.1-mini (its price page). Recorded calls of four providers read 7,300 on average for each search, prompt and tools included.
 */
const SEARCH_TOKENS = 8_000;

/** The tokens held for what so many searches of one call bring in: at most as much as for any other part of unknown size. */
export function tokensOfSearches(searches: number): number {
  return Math.min(SEARCH_TOKENS * searches, UNKNOWN_PART_TOKENS);
}

/**
 * Bytes of base64 for each token of audio. Of the known models Google's count most, 32 tokens a second; MP3 has at least
 * 1,000 bytes a second, which are 1,333 in base64.
 */
const AUDIO_BYTES_PER_TOKEN = 32;

/** The most tokens that audio of this many bytes of base64 has. */
export function tokensOfAudio(bytes: number): number {
  return Math.ceil(bytes / AUDIO_BYTES_PER_TOKEN);
}

/** Bytes of text per token, used if an upstream reports no count. */
const BYTES_PER_TOKEN = 4;

/** Estimates the tokens of a text from its bytes. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/**
 * Bytes of text per token that no text has more of on average. By OpenAI's o200k formal Russian has 12.7, and the 300 longest words
 * that are one token each 15.5; only indentation, lines and spaces have more.
 */
const BYTES_PER_TOKEN_MAX = 16;

/** The fewest tokens that a text of so many bytes may have. */
export function fewestTokensOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN_MAX);
}

/** The most bytes that a text of this many tokens may have. */
export function mostBytesOf(tokens: number): number {
  return tokens * BYTES_PER_TOKEN_MAX;
}

/** Estimates the bytes of a text of this many tokens. */
export function bytesOfTokens(tokens: number): number {
  return tokens * BYTES_PER_TOKEN;
}
