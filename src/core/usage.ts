/**
 * Usage in disjoint buckets: every token is counted in exactly one of them, so that each is charged once, at its own
 * price. Providers nest them in different ways (a cached token is inside `prompt_tokens` at OpenAI and outside
 * `input_tokens` at Anthropic); their readers take that apart.
 */
export const usageBuckets = [
  "input",
  "cacheRead",
  "cacheWrite5m",
  "cacheWrite1h",
  "inputAudio",
  "cacheAudioRead",
  "output",
  "reasoning",
  "outputAudio",
  "requests",
] as const;

export type UsageBucket = (typeof usageBuckets)[number];

/** Counts per bucket; an absent bucket is zero. */
export type Usage = Partial<Record<UsageBucket, number>>;

/** What an upstream said of a call: the usage and, where it names one, the real price (in nano-credits, before markup). */
export interface ObservedUsage {
  usage: Usage;
  reportedCost?: bigint;
}

/** Tokens that went in, cached or not: what tiers of a price are chosen by. */
export function inputTokens(usage: Usage): number {
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, inputAudio = 0, cacheAudioRead = 0 } = usage;
  return input + cacheRead + cacheWrite5m + cacheWrite1h + inputAudio + cacheAudioRead;
}

/** Tokens that came out, thought or said. */
export function outputTokens(usage: Usage): number {
  const { output = 0, reasoning = 0, outputAudio = 0 } = usage;
  return output + reasoning + outputAudio;
}
