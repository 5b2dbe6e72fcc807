/** Tokens that go in. */
export const inputBuckets = [
  "input",
  "cacheRead",
  "cacheWrite5m",
  "cacheWrite1h",
  "inputAudio",
  "cacheAudioRead",
  "inputImage",
  "cacheImageRead",
] as const;

/** Tokens that come out. */
export const outputBuckets = ["output", "reasoning", "outputAudio", "outputImage"] as const;

/**
 * Usage in disjoint buckets: every token is counted in exactly one of them, so that each is charged once, at its own
 * price. Providers nest them in different ways (a cached token is inside `prompt_tokens` at OpenAI and outside
 * `input_tokens` at Anthropic); their readers take that apart.
 *
 * The first are tokens. The rest are what is priced by other units: whole images in and out, characters to be spoken,
 * audio to be written down (in milliseconds, since upstreams and files tell fractions of a second), and calls. A call
 * may be counted in several units at once; those that its model's price leaves out cost nothing.
 */
export const usageBuckets = [
  ...inputBuckets,
  ...outputBuckets,
  "images",
  "inputImages",
  "inputCharacters",
  "inputAudioMs",
  "requests",
] as const;

export type UsageBucket = (typeof usageBuckets)[number];

/** Whole numbers per bucket; an absent bucket is zero. */
export type Usage = Partial<Record<UsageBucket, number>>;

/** What the price of an image may depend on, in the provider's own words: `{ size: "1024x1024", quality: "hd" }`. */
export interface ImageVariant {
  size?: string | undefined;
  quality?: string | undefined;
}

/** What an upstream said of a call: the usage and, where it names one, the real price (in nano-credits, before markup). */
export interface ObservedUsage {
  usage: Usage;
  /** Which images the bucket `images` counts. */
  image?: ImageVariant;
  reportedCost?: bigint;
}

/** The sum of two usages, bucket by bucket. */
export function addUsage(one: Usage, other: Usage): Usage {
  const sum: Usage = { ...one };
  for (const bucket of usageBuckets) {
    const units = other[bucket];
    if (units !== undefined) sum[bucket] = (sum[bucket] ?? 0) + units;
  }
  return sum;
}

/** Tokens that went in, cached or not: what tiers of a price are chosen by. */
export function inputTokens(usage: Usage): number {
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, inputAudio = 0, cacheAudioRead = 0 } = usage;
  const { inputImage = 0, cacheImageRead = 0 } = usage;
  return input + cacheRead + cacheWrite5m + cacheWrite1h + inputAudio + cacheAudioRead + inputImage + cacheImageRead;
}

/** Tokens that came out, thought, said or drawn. */
export function outputTokens(usage: Usage): number {
  const { output = 0, reasoning = 0, outputAudio = 0, outputImage = 0 } = usage;
  return output + reasoning + outputAudio + outputImage;
}
