/** OpenAI's count of generated speech. */
const SPOKEN_TOKENS_PER_MINUTE = 1_250;

export function speechTokens(milliseconds: number): number {
  return Math.ceil((milliseconds * SPOKEN_TOKENS_PER_MINUTE) / 60_000);
}

/** Audio input: OpenAI counts 10 tokens a second, Mistral 12.5, Google 32. */
const HEARD_TOKENS_PER_SECOND = 10;
const HEARD_TOKENS_PER_SECOND_MAX = 32;

export function audioTokens(milliseconds: number): { likely: number; most: number } {
  const seconds = milliseconds / 1_000;
  return {
    likely: Math.ceil(seconds * HEARD_TOKENS_PER_SECOND),
    most: Math.ceil(seconds * HEARD_TOKENS_PER_SECOND_MAX),
  };
}
