/** The usage that a call can cause, and its estimate if the upstream reports none. */
import {
  type WorkBound,
  addUsage,
  inputBuckets,
  inputTokens,
  type ObservedUsage,
  outputBuckets,
  type Usage,
  type UsageBucket,
  usageBuckets,
  tokensOfBytes,
} from "../core/index.ts";
import { mostExpensiveOf, type ModelPrice } from "../pricing/index.ts";
import type { WorkOrder } from "./work-order.ts";

/** Held output if neither the request nor the price layers set a limit. */
const OUTPUT_TOKENS_ASSUMED = 32_768;

/** Expected tokens of an image or a file of unknown size. */
const PART_TOKENS_LIKELY = 1_000;

/** Expected output of an answer if the request sets no limit. */
const OUTPUT_TOKENS_LIKELY = 1_000;

/** No real call comes near this number, and the storage's counters can hold thousands of them. */
const LIKELY_TOKENS_MAX = 1_000_000_000;

/**
 * The most that a call within its bound can use, counted in the most expensive buckets that it may be counted in;
 * `outputMax` is the number of output tokens per choice.
 */
export function usageBound(price: ModelPrice, bound: WorkBound, outputMax = outputTokensMax(price, bound)): Usage {
  const { inputParts, inputUnits, toolUnits, outputImages, outputVideo, choices, inputs = 1 } = bound;
  const window = price.contextWindow ?? Number.POSITIVE_INFINITY;
  const readMax = window * inputs;
  const tokensIn = Math.min(bound.inputTokens, readMax);
  const ofText = mostExpensiveOf(price, "input", bound.inputBuckets, tokensIn);
  const usage: Usage = {};
  if (inputParts === undefined) add(usage, ofText, tokensIn);
  else {
    const { inputImage = 0, inputAudio = 0 } = inputParts;
    add(usage, ofText, Math.min(bound.inputTokens - inputImage - inputAudio, readMax));
    add(usage, mostExpensiveOf(price, ofText, ofImages, tokensIn), Math.min(inputImage, readMax));
    add(usage, mostExpensiveOf(price, ofText, ofAudio, tokensIn), Math.min(inputAudio, readMax));
  }
  if (inputUnits !== undefined) Object.assign(usage, inputUnits);
  if (toolUnits !== undefined) Object.assign(usage, toolUnits);
  if (outputVideo !== undefined) Object.assign(usage, outputVideo.usage);
  if (outputImages?.each === undefined) {
    const ofThought = mostExpensiveOf(price, "output", thought, tokensIn);
    add(usage, mostExpensiveOf(price, ofThought, bound.outputBuckets, tokensIn), Math.min(outputMax, window) * choices);
  } else {
    for (const [bucket, units] of Object.entries(outputImages.each)) {
      // The keys of a usage are buckets.
      add(usage, bucket as UsageBucket, units * outputImages.count);
    }
  }
  if (outputImages !== undefined) usage.images = outputImages.count;
  usage.requests = 1;
  return usage;
}

const ofImages: readonly UsageBucket[] = ["inputImage"];
const ofAudio: readonly UsageBucket[] = ["inputAudio"];
const thought: readonly UsageBucket[] = ["reasoning"];

function add(usage: Usage, bucket: UsageBucket, units: number): void {
  if (units > 0) usage[bucket] = (usage[bucket] ?? 0) + units;
}

/** The most output per choice: by the request, else by the model. */
function outputTokensMax({ contextWindow, maxOutputTokens }: ModelPrice, bound: WorkBound): number {
  return (
    bound.outputTokens ?? maxOutputTokens ?? Math.min(OUTPUT_TOKENS_ASSUMED, contextWindow ?? Number.POSITIVE_INFINITY)
  );
}

/** Usage estimated from lengths, for a call whose upstream reported none. */
function estimatedUsage(price: ModelPrice, bound: WorkBound, outputBytes: number): Usage {
  const output = tokensOfBytes(outputBytes);
  return { ...bound.inputUnits, ...expectedInput(price, bound), output, requests: 1 };
}

/** The buckets of the work itself. An upstream that counts none of them has counted another unit, such as seconds. */
const workBuckets: ReadonlySet<string> = new Set<UsageBucket>([...inputBuckets, ...outputBuckets, "images"]);

/** The sources of a call's usage. */
export interface ReportedUsage {
  /** Reported by the upstream. */
  upstream: ObservedUsage | undefined;
  /** Counted by the gateway. */
  counted?: ObservedUsage | undefined;
  /** Bytes of generated text. */
  outputBytes: () => number;
}

/**
 * The usage of a call: reported by the upstream, else counted by the gateway, else estimated for units that nobody
 * counted. (An upstream may count tokens although the price is per second, or seconds although it is per token.)
 */
export function resolveUsage(
  { price, bound }: Pick<WorkOrder, "price" | "bound">,
  { upstream, counted, outputBytes }: ReportedUsage,
): ObservedUsage {
  if (upstream !== undefined && counted === undefined && bound.inputUnits === undefined) return upstream;
  const taken = estimatedUsage(price, bound, outputBytes());
  const own = upstream ?? { usage: {} };
  const namesWork = Object.keys(own.usage).some((bucket) => workBuckets.has(bucket));
  const missing = Object.entries(taken).filter(([bucket]) => !(namesWork && workBuckets.has(bucket)));
  const usage: Usage = { ...Object.fromEntries(missing), ...counted?.usage, ...own.usage };
  const variant = own.variant ?? counted?.variant;
  return variant === undefined ? { ...own, usage } : { ...own, usage, variant };
}

/** The usage that the upstream may bill for a sent request whose answer is lost. Of a text, only the input is known. */
export function lostUsage({ price, bound }: Pick<WorkOrder, "price" | "bound">): ObservedUsage {
  const { outputImages, outputVideo } = bound;
  const usage: Usage = { ...estimatedUsage(price, bound, 0), ...outputVideo?.usage };
  if (outputImages !== undefined) {
    for (const [bucket, units] of Object.entries(outputImages.each ?? {})) {
      // The keys of a usage are buckets.
      add(usage, bucket as UsageBucket, units * outputImages.count);
    }
    usage.images = outputImages.count;
  }
  const variant = outputVideo?.variant ?? outputImages?.variant;
  return variant === undefined ? { usage } : { usage, variant };
}

/** The usage with the text that has passed since it was reported. */
export function withPassed(observed: ObservedUsage, bytesSince: number): ObservedUsage {
  if (bytesSince === 0) return observed;
  const { usage } = observed;
  return { ...observed, usage: { ...usage, output: (usage.output ?? 0) + tokensOfBytes(bytesSince) } };
}

/**
 * The sum of several answers to one call, which stays one request. An answer without usage counts like the others,
 * except for its images, which are counted.
 */
export function sumOf(each: readonly (ObservedUsage | undefined)[]): ObservedUsage | undefined {
  const named = each.filter((one) => one !== undefined);
  if (named.length === 0 || each.length === 1) return named[0];
  const usage = named.map((one) => one.usage).reduce(addUsage, {});
  if (named.length < each.length) {
    delete usage.images;
    for (const bucket of usageBuckets) {
      const units = usage[bucket];
      if (units !== undefined) usage[bucket] = Math.ceil((units * each.length) / named.length);
    }
  }
  // Zero if all of the requests failed.
  if (usage.requests !== undefined) usage.requests = Math.min(usage.requests, 1);
  const costs = named.map(({ reportedCost }) => reportedCost).filter((cost) => cost !== undefined);
  // A cost that only some of the answers report is not the whole cost.
  if (costs.length < each.length) return { usage };
  return { usage, reportedCost: costs.reduce((sum, cost) => sum + cost, 0n) };
}

/** The tokens that count towards a minute until the call has ended. */
export function expectedTokens(price: ModelPrice, bound: WorkBound): number {
  const output = (bound.outputTokens ?? OUTPUT_TOKENS_LIKELY) * bound.choices;
  return Math.min(inputTokens(expectedInput(price, bound)) + output, LIKELY_TOKENS_MAX);
}

/** Tokens held for parts of unknown size are a bound and no indication of their size. */
function expectedInput({ contextWindow }: ModelPrice, bound: WorkBound): Usage {
  if (bound.expectedInput !== undefined) return bound.expectedInput;
  const { inputTokens: most, unsizedParts } = bound;
  const { parts, tokens } = unsizedParts ?? { parts: 0, tokens: 0 };
  const likely = tokensOfBytes(most - tokens) + parts * PART_TOKENS_LIKELY;
  return { input: Math.min(likely, (contextWindow ?? Number.POSITIVE_INFINITY) * (bound.inputs ?? 1)) };
}
