import { tokensOfSearches } from "./models/tokens.ts";
import {
  addUsage,
  type MediaVariant,
  type ModelUsage,
  multiplyUsage,
  type PriceTerms,
  type Usage,
  type UsageBucket,
} from "./usage.ts";

/** A model that another one may call, such as an advisor. */
export interface HelperModel {
  model: string;
  runs: number;
  /** The tokens that are held for the output of each run. */
  outputTokens: number;
}

/** A model that may answer in place of the requested one, and its differences from the request. */
interface AlternativeModel {
  model: string;
  terms?: PriceTerms | undefined;
  outputTokens?: number | undefined;
}

export interface AlternativeModels {
  models: readonly AlternativeModel[];
  /** The field that leaves the choice of further models to the provider; absent if none does. */
  chosenBy?: string;
}

/** What hosted tools may buy: units of their own, and the work of other models. */
type ToolPurchases = Pick<WorkBound, "toolUnits" | "others" | "helpers">;

/** Hosted tools whose runs the request does not limit and the gateway may. */
interface ToolRuns {
  /** The runs that are held if the credits suffice. */
  most: number;
  /** The most that one run of each of them may buy. */
  each: ToolPurchases;
}

/** Everything that bounds the cost of a request, as known from its body before it is sent. */
export interface WorkBound {
  /** The maximum number of input tokens. */
  inputTokens: number;
  /** Whether more input may follow, as in a session: the bound is then that of what is known by now. */
  isGrowing?: boolean;
  /** Parts of `inputTokens` that have other prices than text: `inputImage` and `inputAudio`. */
  inputParts?: Usage;
  /** Buckets besides `input` that the input may be counted in, such as writes to a cache. */
  inputBuckets?: readonly UsageBucket[];
  /** The maximum number of output tokens per choice, or undefined if the body sets no limit. */
  outputTokens: number | undefined;
  /** The fewest output tokens per choice that the body makes sense with: more than its budget for thinking. */
  outputTokensMin?: number;
  /** Buckets besides `output` and `reasoning` that the output may be counted in. */
  outputBuckets?: readonly UsageBucket[];
  /** How many answers are requested. */
  choices: number;
  /** How many inputs the model reads separately, so that each may fill its context window. Absent: one. */
  inputs?: number;
  /**
   * The expected input, by bucket: tokens, if the body determines them better than its byte count, and the other units
   * for which `inputUnits` is only a bound.
   */
  expectedInput?: Usage;
  /** The number of input parts of unknown size, and how many of `inputTokens` are held for them. */
  unsizedParts?: { parts: number; tokens: number };
  /**
   * The maximum of input in units other than tokens (images, characters, milliseconds of audio). It is charged if
   * neither the upstream nor `expectedInput` contains a figure.
   */
  inputUnits?: Usage;
  /** The terms that the request asks for. */
  terms?: PriceTerms;
  /** The most that hosted tools may do. Nothing of it is charged unless the upstream reports it. */
  toolUnits?: Usage;
  /** The units of hosted tools that run for every answer: they are held, and charged with it although it does not count them. */
  fixedUnits?: Usage;
  /** Units that the work may use and that must have a price of their own, such as tokens of audio. */
  ownPrices?: readonly UsageBucket[];
  /** The most that other models of the provider may use in the work, by their names; each has its own price. */
  others?: readonly ModelUsage[];
  /** Other models of the provider that may read the work's input and write something of their own beside its answer. */
  helpers?: readonly HelperModel[];
  /** Hosted tools whose runs are limited to as many as the credits suffice for. The members above exclude them. */
  toolRuns?: ToolRuns;
  /** Other models of the provider that may answer in place of the requested one. The answer then names its model. */
  alternatives?: AlternativeModels;
  /**
   * The maximum number of output images, their variant if the body determines it, and the most that one of them uses if
   * the upstream counts tokens.
   */
  outputImages?: { count: number; variant: MediaVariant | undefined; each?: Usage };
  /** The most video that comes out, and its variant if the body determines it. */
  outputVideo?: { usage: Usage; variant: MediaVariant | undefined };
}

/** The bound with so many runs of the tools that the request does not limit. */
export function withToolRuns<Bound extends ToolPurchases & Pick<WorkBound, "toolRuns">>(
  bound: Bound,
  runs: number,
): Bound {
  const { toolRuns, toolUnits = {}, others = [], helpers = [] } = bound;
  if (toolRuns === undefined) return bound;
  const { each } = toolRuns;
  return {
    ...bound,
    toolUnits: addUsage(toolUnits, multiplyUsage(each.toolUnits ?? {}, runs)),
    others: [...others, ...(each.others ?? []).map((one) => ({ ...one, usage: multiplyUsage(one.usage, runs) }))],
    helpers: [...helpers, ...(each.helpers ?? []).map((one) => ({ ...one, runs }))],
  };
}

/**
 * The bound with the input that the searches of its hosted tools bring in, besides that of the `counted` ones, which it contains
 * already.
 */
export function withBroughtIn(bound: WorkBound, counted?: Usage): WorkBound {
  const tokens = tokensOfSearches(searchesOf(bound.toolUnits)) - tokensOfSearches(searchesOf(counted));
  if (tokens === 0) return bound;
  const { parts, tokens: unsized } = bound.unsizedParts ?? { parts: 0, tokens: 0 };
  return {
    ...bound,
    inputTokens: bound.inputTokens + tokens,
    unsizedParts: { parts: searchesOf(counted) === 0 ? parts + 1 : parts, tokens: unsized + tokens },
  };
}

function searchesOf({ webSearches = 0, previewSearches = 0, storageSearches = 0 }: Usage = {}): number {
  return webSearches + previewSearches + storageSearches;
}
