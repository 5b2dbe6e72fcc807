/** The usage that a call can cause, and its estimate if the upstream reports none. */
import {
  type WorkBound,
  addUsage,
  bytesOfTokens,
  fewestTokensOf,
  inputBuckets,
  inputTokens,
  keysOf,
  type ObservedUsage,
  outputBuckets,
  type Usage,
  type UsageBucket,
  usageBuckets,
  type UsageSide,
  outputTokens,
  tokensOfBytes,
  UNKNOWN_PART_TOKENS,
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
export function usageBound(
  price: ModelPrice,
  bound: WorkBound,
  outputMax = outputTokensMax(price, bound.outputTokens),
): Usage {
  const { inputParts, inputUnits, toolUnits, fixedUnits, outputImages, outputVideo, choices, inputs = 1 } = bound;
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
  if (fixedUnits !== undefined)
    for (const bucket of keysOf<UsageBucket>(fixedUnits)) add(usage, bucket, fixedUnits[bucket] ?? 0);
  if (outputVideo !== undefined) Object.assign(usage, outputVideo.usage);
  if (outputImages?.each === undefined) {
    const ofThought = mostExpensiveOf(price, "output", thought, tokensIn);
    add(usage, mostExpensiveOf(price, ofThought, bound.outputBuckets, tokensIn), Math.min(outputMax, window) * choices);
  }
  if (outputImages !== undefined) addImages(usage, outputImages);
  usage.requests = 1;
  return usage;
}

const ofImages: readonly UsageBucket[] = ["inputImage"];
const ofAudio: readonly UsageBucket[] = ["inputAudio"];
const thought: readonly UsageBucket[] = ["reasoning"];

/** The images of a call, and the units of each of them if those are known. */
function addImages(usage: Usage, { each = {}, count }: NonNullable<WorkBound["outputImages"]>): void {
  for (const bucket of keysOf<UsageBucket>(each)) add(usage, bucket, (each[bucket] ?? 0) * count);
  usage.images = count;
}

function add(usage: Usage, bucket: UsageBucket, units: number): void {
  if (units > 0) usage[bucket] = (usage[bucket] ?? 0) + units;
}

/** The most output per choice: by the request, else by the model. */
function outputTokensMax({ contextWindow, maxOutputTokens }: ModelPrice, requested: number | undefined): number {
  return requested ?? maxOutputTokens ?? Math.min(OUTPUT_TOKENS_ASSUMED, contextWindow ?? Number.POSITIVE_INFINITY);
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

/** The work whose usage is resolved. */
export interface CountedWork {
  order: Pick<WorkOrder, "price" | "bound"> & Partial<Pick<WorkOrder, "output">>;
  /** The limit that the gateway has set to the output, in tokens per choice. */
  limits?: { outputTokens: number | undefined };
}

/**
 * The usage of a call: reported by the upstream, else counted by the gateway, else estimated for units that nobody
 * counted. (An upstream may count tokens although the price is per second, or seconds although it is per token.) Tokens
 * that the upstream has not counted, or cannot have counted right, are estimated: its input and its output each by
 * itself.
 */
export function resolveUsage(work: CountedWork, reported: ReportedUsage): ObservedUsage {
  const observed = resolveCounts(work, reported);
  const { fixedUnits } = work.order.bound;
  if (fixedUnits === undefined || (reported.upstream === undefined && reported.outputBytes() === 0)) return observed;
  const usage = { ...observed.usage };
  for (const bucket of keysOf<UsageBucket>(fixedUnits)) {
    usage[bucket] = Math.max(usage[bucket] ?? 0, fixedUnits[bucket] ?? 0);
  }
  return { ...observed, usage };
}

function resolveCounts(work: CountedWork, { upstream, counted, outputBytes }: ReportedUsage): ObservedUsage {
  const { bound } = work.order;
  if (upstream !== undefined && counted === undefined && bound.inputUnits === undefined) {
    const split = upstream.hasUnsplitWrites === true ? withLifetime(upstream, bound) : upstream;
    return withTokens(work, split, outputBytes);
  }
  const own = upstream === undefined ? { usage: {} } : withoutUnitsTokens(upstream, work.order.price);
  const namesWork = Object.keys(own.usage).some((bucket) => workBuckets.has(bucket));
  const { usage: tokens, ...told } = withTokens(work, namesWork ? own : { ...own, uncounted: both }, outputBytes);
  const units = Object.entries({ ...bound.inputUnits, ...bound.expectedInput });
  const usage: Usage = {
    ...Object.fromEntries(units.filter(([unit]) => !workBuckets.has(unit))),
    requests: 1,
    ...(namesWork ? {} : tokens),
    ...counted?.usage,
    ...(namesWork ? tokens : own.usage),
  };
  const variant = own.variant ?? counted?.variant;
  const estimated = both.filter((side) => (told.estimated ?? counted?.estimated)?.includes(side));
  return { ...told, usage, ...(variant && { variant }), ...(estimated.length > 0 && { estimated }) };
}

/** Search units stand for the tokens of a ranking that its upstream has not counted, unless only the tokens have a price. */
function withoutUnitsTokens(observed: ObservedUsage, { priced, rates }: ModelPrice): ObservedUsage {
  const { uncounted, ...counted } = observed;
  if (uncounted === undefined || (observed.usage.searchUnits ?? 0) === 0) return observed;
  return priced.has("searchUnits") || rates.input.highest === 0n ? counted : observed;
}

const both: readonly UsageSide[] = ["input", "output"];
const neither: readonly UsageSide[] = [];

const bucketsOf: Readonly<Record<UsageSide, readonly UsageBucket[]>> = { input: inputBuckets, output: outputBuckets };

/**
 * The usage with an estimate in place of each side that is not counted: that has no count, one of zero although there
 * was text, or one far beyond what the request allows. Zeros beside an answer without text are honest: Anthropic sends
 * them for a call of its own program (`test/recordings/`, 2786).
 */
function withTokens(work: CountedWork, observed: ObservedUsage, outputBytes: () => number): ObservedUsage {
  const { usage, uncounted = neither } = observed;
  const read = inputTokens(usage);
  const written = outputTokens(usage);
  const isBeyond = {
    input: isInputBeyond(work, observed, read),
    output: isOutputBeyond(work, observed, written, outputBytes),
  };
  const isPlausible = !isBeyond.input && !isBeyond.output;
  // Almost every answer.
  if (isPlausible && uncounted.length === 0 && read > 0 && written > 0) return observed;
  const isWritten = uncounted.includes("output") || isBeyond.output || written > 0 || outputBytes() > 0;
  const isMissing = (side: UsageSide, count: number): boolean =>
    isBeyond[side] ||
    uncounted.includes(side) ||
    (count === 0 && isWritten && bucketsOf[side].some((one) => one in usage));
  const missing = both.filter((side) => isMissing(side, side === "input" ? read : written));
  if (missing.length === 0) return observed;
  const { price, bound } = work.order;
  const output = withinLimit(work, observed, outputBytes());
  const likely: Usage = { ...expectedInput(price, bound), output };
  const { others, uncounted: _, ...rest } = observed;
  const whole = { ...usage };
  const estimated = both.filter((side) => {
    const isEstimated = missing.includes(side) && estimate(whole, { side, likely, isBeyond: isBeyond[side] });
    const isText = work.order.output !== undefined && missing.includes(side);
    return isEstimated || isText || observed.estimated?.includes(side) === true;
  });
  return { ...rest, usage: whole, estimated, ...(others !== undefined && isPlausible ? { others } : {}) };
}

/** Puts an estimate in place of one side, and keeps the parts of it that are counted. Returns whether there are tokens. */
function estimate(
  usage: Usage,
  { side, likely, isBeyond }: { side: UsageSide; likely: Usage; isBeyond: boolean },
): boolean {
  let [told, wanted] = [0, 0];
  for (const bucket of bucketsOf[side]) {
    if (isBeyond) delete usage[bucket];
    told += usage[bucket] ?? 0;
    wanted += likely[bucket] ?? 0;
  }
  if (told > 0) add(usage, side, wanted - told);
  else for (const bucket of bucketsOf[side]) if (likely[bucket] !== undefined) usage[bucket] = likely[bucket];
  return told + wanted > 0;
}

/**
 * Tokens that a provider may put before a prompt by itself: its own instructions, those of its tools, a stored prompt.
 * They are not held.
 */
const PROVIDERS_OWN_TOKENS = UNKNOWN_PART_TOKENS;

/** How many times as much as there can be a count may be. More is a mistake of the upstream. */
const PLAUSIBLE_TIMES = 2;

/**
 * Whether a count of input is no count: far beyond the bytes of the body and the window. After each run of a hosted
 * tool the input is read again, together with the results of all runs so far.
 */
function isInputBeyond({ order: { price, bound } }: CountedWork, observed: ObservedUsage, read: number): boolean {
  const window = (price.contextWindow ?? Number.POSITIVE_INFINITY) * (bound.inputs ?? 1);
  if (read <= bound.inputTokens && read <= window) return false;
  const rounds = roundsMax(bound, observed);
  const broughtIn = (UNKNOWN_PART_TOKENS * (rounds - 1)) / 2;
  return read > PLAUSIBLE_TIMES * rounds * Math.min(bound.inputTokens + PROVIDERS_OWN_TOKENS + broughtIn, window);
}

/** Whether a count of output is far beyond the limit that was sent, or else the model's, and beyond the text as well. */
function isOutputBeyond(
  work: CountedWork,
  observed: ObservedUsage,
  written: number,
  outputBytes: () => number,
): boolean {
  const { price, bound, output } = work.order;
  const limit = textLimit(work) ?? outputTokensMax(price, output === undefined ? bound.outputTokens : undefined);
  if (written <= limit) return false;
  const most = PLAUSIBLE_TIMES * outputWithin(limit, bound, observed);
  return written > most && written > PLAUSIBLE_TIMES * tokensOfBytes(outputBytes());
}

/** All output within a limit per choice. */
function outputWithin(limit: number, bound: WorkBound, observed: ObservedUsage): number {
  const ofOthers = (bound.alternatives?.models ?? []).map(({ outputTokens: own = 0 }) => own);
  return roundsMax(bound, observed) * Math.max(limit, ...ofOthers) * bound.choices;
}

/** The limit of all output of a text, per choice: the one that was sent, at most the model's own; undefined if none is known. */
export function textLimit({ order: { output, price }, limits: sent }: CountedWork): number | undefined {
  if (output === undefined) return undefined;
  const limit = sent?.outputTokens ?? output.ownLimit ?? price.maxOutputTokens;
  return limit === undefined ? undefined : Math.min(limit, price.maxOutputTokens ?? limit);
}

/**
 * The output after `told` tokens of it by the bytes of the rest, within the limit of the text: long words have more bytes a
 * token. An upstream ignores its limit only if the text has more tokens by any count.
 */
function withinLimit(work: CountedWork, observed: ObservedUsage, bytes: number, told = 0): number {
  const tokens = told + tokensOfBytes(bytes);
  const limit = textLimit(work);
  if (limit === undefined) return tokens;
  const most = outputWithin(limit, work.order.bound, observed);
  return told + fewestTokensOf(bytes) > most ? tokens : Math.min(tokens, most);
}

/** How often the model may have run within the call: again after each run of a hosted tool, and for each other model. */
function roundsMax(
  { toolUnits = {}, fixedUnits = {}, unsizedParts }: WorkBound,
  { usage, others = [] }: ObservedUsage,
): number {
  const runs = Math.max(runsIn(toolUnits), runsIn(usage)) + runsIn(fixedUnits);
  return 1 + (unsizedParts?.parts ?? 0) + runs + others.length;
}

function runsIn({ webSearches = 0, previewSearches = 0, storageSearches = 0, containerGb = 0 }: Usage): number {
  return webSearches + previewSearches + storageSearches + containerGb;
}

/** How fast a model can write, in tokens a second: the faster ones of what is sold today, thought included. */
const WRITTEN_PER_SECOND = 50;

/**
 * The usage of sent work that its client has left before an answer began: the expected input. Of a whole answer, which a
 * model writes from the beginning, also what it can have written within `milliseconds`.
 */
export function abandonedUsage(work: CountedWork & { order: WorkOrder }, milliseconds: number): ObservedUsage {
  const { bound, output, streamed } = work.order;
  const isWhole = output !== undefined && !streamed;
  const most = isWhole ? (textLimit(work) ?? Number.POSITIVE_INFINITY) : 0;
  const written = Math.min(Math.ceil((milliseconds * WRITTEN_PER_SECOND) / 1_000), most) * bound.choices;
  return resolveUsage(work, { upstream: undefined, outputBytes: () => bytesOfTokens(written) });
}

/** The usage that the upstream may bill for a sent request whose answer is lost. Of a text, only the input is known. */
export function lostUsage({ price, bound }: Pick<WorkOrder, "price" | "bound">): ObservedUsage {
  const { outputImages, outputVideo } = bound;
  const { usage: sent } = resolveUsage({ order: { price, bound } }, { upstream: undefined, outputBytes: () => 0 });
  const usage: Usage = { ...sent, ...outputVideo?.usage };
  if (outputImages !== undefined) addImages(usage, outputImages);
  const variant = outputVideo?.variant ?? outputImages?.variant;
  return variant === undefined ? { usage } : { usage, variant };
}

/** Counts writes to a cache at the requested lifetime. */
function withLifetime(observed: ObservedUsage, { inputBuckets: buckets }: WorkBound): ObservedUsage {
  if (buckets?.includes("cacheWrite1h") !== true) return observed;
  const { cacheWrite5m = 0, ...rest } = observed.usage;
  return { ...observed, usage: { ...rest, cacheWrite1h: cacheWrite5m } };
}

/**
 * The usage of a part of a session, completed by an estimate of it: by the units that its upstream has not counted (it may count
 * tokens although the price is per second, or seconds although it is per token), and by each side of its tokens that is none
 * although there was some, or more than twice what the model takes.
 */
export function withEstimate(
  observed: ObservedUsage | undefined,
  { usage: likely }: ObservedUsage,
  { contextWindow, maxOutputTokens }: Pick<ModelPrice, "contextWindow" | "maxOutputTokens">,
): ObservedUsage {
  if (observed === undefined) return { usage: likely, estimated: both };
  const namesWork = Object.keys(observed.usage).some((bucket) => workBuckets.has(bucket));
  const uncounted = Object.entries(likely).filter(([unit]) => !namesWork || !workBuckets.has(unit));
  const usage: Usage = { ...Object.fromEntries(uncounted), ...observed.usage };
  const most = { input: contextWindow, output: maxOutputTokens };
  const estimated = both.filter((side) => {
    const [told, expected] = [sideOf(observed.usage, side), sideOf(likely, side)];
    const isBeyond = told > PLAUSIBLE_TIMES * Math.max(most[side] ?? Number.POSITIVE_INFINITY, expected);
    if (!isBeyond && (told > 0 || expected === 0 || !namesWork)) return false;
    for (const bucket of bucketsOf[side]) delete usage[bucket];
    for (const bucket of bucketsOf[side]) add(usage, bucket, likely[bucket] ?? 0);
    return true;
  });
  return { ...observed, usage, ...(estimated.length > 0 && { estimated }) };
}

function sideOf(usage: Usage, side: UsageSide): number {
  return side === "input" ? inputTokens(usage) : outputTokens(usage);
}

/** The usage with the text that has passed since it was reported. */
export function withPassed(work: CountedWork, observed: ObservedUsage, bytesSince: number): ObservedUsage {
  if (bytesSince === 0) return observed;
  const { usage } = observed;
  const told = outputTokens(usage);
  const passed = withinLimit(work, observed, bytesSince, told) - told;
  const output = (usage.output ?? 0) + Math.max(passed, 0);
  return { ...observed, usage: { ...usage, output }, estimated: ["output"] };
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
  const sides = both.filter((side) => named.some((one) => one.uncounted?.includes(side)));
  const told = {
    usage,
    ...(sides.length > 0 && { uncounted: sides }),
    ...(named.length < each.length && { estimated: both }),
  };
  if (costs.length < each.length) return told;
  return { ...told, reportedCost: costs.reduce((sum, cost) => sum + cost, 0n) };
}

/** The tokens that count towards a minute until the call has ended. */
export function expectedTokens(price: ModelPrice, bound: WorkBound): number {
  const output = (bound.outputTokens ?? OUTPUT_TOKENS_LIKELY) * bound.choices;
  return Math.min(inputTokens(expectedInput(price, bound)) + output, LIKELY_TOKENS_MAX);
}

/** How many times the window the estimate of an input must be before it cannot fit: estimates are not exact. */
const WINDOW_TIMES = 1.5;

/** Whether an input, as far as it can be estimated, is far too long for its model. */
export function exceedsWindow({ price: { contextWindow }, bound }: Pick<WorkOrder, "price" | "bound">): boolean {
  return contextWindow !== undefined && likelyInput({ bound }) > WINDOW_TIMES * contextWindow * (bound.inputs ?? 1);
}

/** The tokens of an input, as far as they can be estimated. */
export function likelyInput({ bound }: Pick<WorkOrder, "bound">): number {
  return inputTokens(expectedInput({ contextWindow: undefined }, bound));
}

/**
 * The likely usage of a call of which so many tokens of input are in the model's cache; undefined for anything but text, whose
 * bound is close to its usage.
 */
export function likelyUsage(
  { price, bound, output }: Pick<WorkOrder, "price" | "bound" | "output">,
  cached: number,
): Usage | undefined {
  if (output === undefined) return undefined;
  const { input = 0, ...units } = expectedInput(price, bound);
  const cacheRead = Math.min(cached, input);
  const read = mostExpensiveOf(price, "input", bound.inputBuckets, input);
  const written = Math.min(OUTPUT_TOKENS_LIKELY, bound.outputTokens ?? OUTPUT_TOKENS_LIKELY) * bound.choices;
  return { ...units, [read]: input - cacheRead, cacheRead, output: written, requests: 1 };
}

/** Tokens held for parts of unknown size are a bound and no indication of their size. */
function expectedInput({ contextWindow }: Pick<ModelPrice, "contextWindow">, bound: WorkBound): Usage {
  if (bound.expectedInput !== undefined) return bound.expectedInput;
  const { inputTokens: most, unsizedParts } = bound;
  const { parts, tokens } = unsizedParts ?? { parts: 0, tokens: 0 };
  const likely = tokensOfBytes(most - tokens) + parts * PART_TOKENS_LIKELY;
  return { input: Math.min(likely, (contextWindow ?? Number.POSITIVE_INFINITY) * (bound.inputs ?? 1)) };
}
