/** Buckets of input tokens. */
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

/** Buckets of output tokens. */
export const outputBuckets = ["output", "reasoning", "outputAudio", "outputImage", "outputVideo"] as const;

/**
 * Usage in disjoint buckets: every token is counted in exactly one of them, so that each is charged once, at its
 * bucket's price. Providers nest their counts in different ways (a cached token is inside `prompt_tokens` at OpenAI and
 * outside `input_tokens` at Anthropic); their readers separate them.
 *
 * The first buckets count tokens. The others count units with other prices: whole images in and out, characters to
 * speak, audio to transcribe, video and connections (in milliseconds, since upstreams and files use fractions of a
 * second), the work of hosted tools, pages of the web, and calls. A call may be counted in several units at once; units that
 * the model's price omits are free.
 */
export const usageBuckets = [
  ...inputBuckets,
  ...outputBuckets,
  "images",
  "inputImages",
  "inputCharacters",
  "inputAudioMs",
  "inputVideoMs",
  "outputVideoMs",
  "connectionMs",
  "webSearches",
  "previewSearches",
  "storageSearches",
  "containerGb",
  "searches",
  "pages",
  "maps",
  "pdfPages",
  "toolCalls",
  "searchUnits",
  "requests",
] as const;

export type UsageBucket = (typeof usageBuckets)[number];

/** The names of buckets in answers and metrics: those of the code in snake case. */
export const bucketNames = Object.fromEntries(
  usageBuckets.map((bucket) => [bucket, bucket.replace(/[A-Z]|\d[a-z]/g, (start) => `_${start.toLowerCase()}`)]),
) as Readonly<Record<UsageBucket, string>>;

/** Whole numbers per bucket; an absent bucket is zero. */
export type Usage = Partial<Record<UsageBucket, number>>;

/**
 * The properties that the price of an image or a video may depend on, in the provider's terms: `{ size: "1024x1024",
 * quality: "hd" }`, `{ size: "720p" }`, `{ size: "from-video", quality: "silent" }`.
 */
export interface MediaVariant {
  size?: string | undefined;
  quality?: string | undefined;
}

/** The conditions that the price of all of a call's tokens depends on, in the upstream's terms; absent: its default. */
export interface PriceTerms {
  /** The speed or priority of processing: `priority`, `flex`, `fast`. */
  serviceTier?: string | undefined;
  /** The region that the model runs in: `us`. */
  inferenceGeo?: string | undefined;
}

/** The terms of an answer: those that it names, else those that were requested. */
export function appliedTerms(requested: PriceTerms | undefined, named: PriceTerms | undefined): PriceTerms | undefined {
  return requested === undefined ? named : { ...requested, ...named };
}

/** The amounts that a model has used, or may use. */
export interface ModelUsage {
  /** The upstream's name of the model. */
  model: string;
  usage: Usage;
}

/** The tokens that a call reads, or those that it writes. */
export type UsageSide = "input" | "output";

/** Usage as reported by an upstream, with its real price if reported (in nano-credits, before markup). */
export interface ObservedUsage {
  usage: Usage;
  /** The sides that the upstream does not count: it has no number for them, or none that can be one. */
  uncounted?: readonly UsageSide[];
  /** The sides whose tokens the gateway has estimated. */
  estimated?: readonly UsageSide[];
  /** The terms that the answer names; for a term that it does not name, the requested one applies. */
  terms?: PriceTerms;
  /** The writes to a cache are not counted by their lifetimes: all of them have the longest requested one. */
  hasUnsplitWrites?: true;
  /** The provider's name of the model that has answered; it counts for a request that allows for other models. */
  answeredBy?: string;
  /** The parts of `usage` that other models of the provider have used, by their names; each has its own price. */
  others?: readonly ModelUsage[];
  /** The gigabytes of each container in `usage`, by its id. */
  containers?: ReadonlyMap<string, number>;
  /** The variant of the images or of the video. */
  variant?: MediaVariant;
  reportedCost?: bigint;
}

/** A usage without a part of it, bucket by bucket. */
export function withoutPart(usage: Usage, part: Usage): Usage {
  const rest: Usage = { ...usage };
  for (const bucket of usageBuckets) {
    const units = part[bucket];
    if (units !== undefined) rest[bucket] = Math.max((rest[bucket] ?? 0) - units, 0);
  }
  return rest;
}

/** The sum of two usages, bucket by bucket. */
export function addUsage(first: Usage, second: Usage): Usage {
  const sum: Usage = { ...first };
  for (const bucket of usageBuckets) {
    const units = second[bucket];
    if (units !== undefined) sum[bucket] = (sum[bucket] ?? 0) + units;
  }
  return sum;
}

export function multiplyUsage(usage: Usage, times: number): Usage {
  const product: Usage = {};
  for (const bucket of usageBuckets) {
    const units = usage[bucket];
    if (units !== undefined) product[bucket] = units * times;
  }
  return product;
}

/** All input tokens, cached or not. They determine the tier of a price. */
export function inputTokens(usage: Usage): number {
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, inputAudio = 0, cacheAudioRead = 0 } = usage;
  const { inputImage = 0, cacheImageRead = 0 } = usage;
  return input + cacheRead + cacheWrite5m + cacheWrite1h + inputAudio + cacheAudioRead + inputImage + cacheImageRead;
}

/** All output tokens: text, reasoning, audio, images and video. */
export function outputTokens(usage: Usage): number {
  const { output = 0, reasoning = 0, outputAudio = 0, outputImage = 0, outputVideo = 0 } = usage;
  return output + reasoning + outputAudio + outputImage + outputVideo;
}

/** The usage with its duration of audio rounded up to a multiple of `stepMs`. */
export function inAudioSteps(usage: Usage, stepMs: number): Usage {
  const { inputAudioMs } = usage;
  return inputAudioMs === undefined ? usage : { ...usage, inputAudioMs: Math.ceil(inputAudioMs / stepMs) * stepMs };
}
