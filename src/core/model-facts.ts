import type { JsonObject } from "./json.ts";

/** How much a model should think, from not at all to as much as it can. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof efforts)[number];

/** How much a model should think: by either, or as much as it likes. */
export interface ThoughtOptions {
  effort?: Effort | undefined;
  budgetTokens?: number | undefined;
}

/**
 * How a model differs from others of its dialect, as far as a translation must know it: providers state it, dialects
 * apply it. An absent member means the dialect's default.
 */
export interface ModelFacts {
  /** Sampling parameters are refused; a translation drops them. */
  refusesSampling?: boolean;
  /** How thinking is requested in Messages; "none" for a model that can't think. */
  thinking?: "budget" | "adaptive" | "none";
  /**
   * The efforts that it accepts: others become the nearest one, or are dropped if the list is empty. Absent: unknown.
   */
  efforts?: readonly Effort[];
  /** The formats that it can be held to besides text; absent: JSON, and JSON that fits a schema. */
  formats?: "json" | "none";
  /** It accepts the role `developer` besides `system`. */
  developerRole?: boolean;
  /**
   * The member of a chat message that returns reasoning to the model. `as-shown`: only its own, within a loop of tool
   * calls, in the member in which it came.
   */
  reasoningField?: "reasoning_content" | "reasoning" | "as-shown";
  /** It refuses tool call ids unless they are nine letters and digits; other ids are replaced by such ids. */
  shortCallIds?: boolean;
  /** Replaces the signature of a tool call if the upstream requires one and the client has lost it. */
  lostCallSignature?: JsonObject;
  /** In Responses it shows a summary of its thoughts if it is asked to, and otherwise hides them. */
  summarizesThoughts?: boolean;
  /** It shows its thoughts in chat if these members of the body ask for them, in place of `reasoning_effort`. */
  askForThoughts?: (asked: ThoughtOptions) => JsonObject;
  /** Its names of service tiers, by OpenAI's, if they differ. */
  tierNames?: Readonly<Record<string, string>>;
  /** It may write its reasoning between `<think>` or `<thought>` tags at the beginning of the content. */
  thinkTags?: boolean;
}

/** The offered effort nearest to the requested one, the lower of two; undefined if none is offered. */
export function nearestEffort(requested: Effort, offered: readonly Effort[]): Effort | undefined {
  const distance = (effort: Effort): number => Math.abs(efforts.indexOf(effort) - efforts.indexOf(requested));
  // Low effort does not replace none, nor the other way round.
  const alike =
    requested === "none" ? offered.filter((effort) => effort === "none") : offered.filter((one) => one !== "none");
  return alike.toSorted((a, b) => distance(a) - distance(b) || efforts.indexOf(a) - efforts.indexOf(b))[0];
}
