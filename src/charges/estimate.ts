/** What a call can use, and what it has used where the upstream doesn't tell. */
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
import { mostExpensiveInput, mostExpensiveOutput, type ModelPrice } from "../pricing/index.ts";
import type { WorkOrder } from "./work-order.ts";

/** Output that is held for where neither the request nor the price layers set a limit. */
const OUTPUT_TOKENS_ASSUMED = 32_768;

/** What a picture or a file is taken for where nothing tells its size. */
const PART_TOKENS_LIKELY = 1_000;

/** What an answer is taken for where the request sets no limit. */
const OUTPUT_TOKENS_LIKELY = 1_000;

/** No real call comes near; thousands of such fit the storage's counters. */
const LIKELY_TOKENS_MAX = 1_000_000_000;

/** The most that a call within its bound can use, as its dearest tokens. */
export function usageBound(price: ModelPrice, bound: WorkBound): Usage {
  const window = price.contextWindow ?? Number.POSITIVE_INFINITY;
  const tokensIn = Math.min(bound.inputTokens, window * (bound.inputs ?? 1));
  const cap = bound.outputTokens ?? price.maxOutputTokens ?? Math.min(OUTPUT_TOKENS_ASSUMED, window);
  const usage = mostExpensiveInput(price, tokensIn);
  Object.assign(usage, mostExpensiveOutput(price, Math.min(cap, window) * bound.choices), bound.inputUnits);
  if (bound.outputImages !== undefined) usage.images = bound.outputImages.count;
  usage.requests = 1;
  return usage;
}

/** Usage estimated from lengths, for a call whose upstream named none. */
function estimatedUsage(price: ModelPrice, bound: WorkBound, outputBytes: number): Usage {
  const output = tokensOfBytes(outputBytes);
  return { ...bound.inputUnits, ...expectedInput(price, bound), output, requests: 1 };
}

/** What stands for the work itself: an upstream that counts none of these has counted something else, such as seconds. */
const workBuckets: ReadonlySet<string> = new Set<UsageBucket>([...inputBuckets, ...outputBuckets, "images"]);

/** How much of a call's usage is known. */
export interface ReportedUsage {
  /** By the upstream's own figures. */
  upstream: ObservedUsage | undefined;
  /** By what was counted here. */
  counted?: ObservedUsage | undefined;
  /** Bytes of text that came out. */
  outputBytes: () => number;
}

/**
 * What a call has used: by the upstream's own figures; by what was counted here; and, for work that no unit counts, by an
 * estimate. (An upstream may count tokens where the price is by the second, or seconds where it is by the token.)
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
  const image = own.image ?? counted?.image;
  return image === undefined ? { ...own, usage } : { ...own, usage, image };
}

/**
 * Several answers of one call, which stays one request. One that names nothing is taken for one like the others; but for
 * its images, which are counted.
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
  // None, where none of them counts itself: all that was asked for has failed.
  if (usage.requests !== undefined) usage.requests = Math.min(usage.requests, 1);
  const costs = named.map(({ reportedCost }) => reportedCost).filter((cost) => cost !== undefined);
  // A cost that only some name is not the whole.
  if (costs.length < each.length) return { usage };
  return { usage, reportedCost: costs.reduce((sum, cost) => sum + cost, 0n) };
}

/** The tokens that count towards a minute until a call has ended. */
export function expectedTokens(price: ModelPrice, bound: WorkBound): number {
  const { outputTokens = OUTPUT_TOKENS_LIKELY, choices } = bound;
  return Math.min(inputTokens(expectedInput(price, bound)) + outputTokens * choices, LIKELY_TOKENS_MAX);
}

/** What is held for parts of unknown size bounds them; it says nothing of how large they are. */
function expectedInput({ contextWindow }: ModelPrice, bound: WorkBound): Usage {
  if (bound.expectedInput !== undefined) return bound.expectedInput;
  const { inputTokens: most, unsizedParts } = bound;
  const { parts, tokens } = unsizedParts ?? { parts: 0, tokens: 0 };
  const likely = tokensOfBytes(most - tokens) + parts * PART_TOKENS_LIKELY;
  return { input: Math.min(likely, (contextWindow ?? Number.POSITIVE_INFINITY) * (bound.inputs ?? 1)) };
}
