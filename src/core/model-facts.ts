import type { JsonObject } from "./json.ts";

/** How hard a model is to think, from not at all to as much as it can. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof efforts)[number];

/**
 * How a model differs from others of its dialect, as far as a translation must know: providers state it, dialects follow
 * it. An absent member means as the dialect has it.
 */
export interface ModelFacts {
  /** Sampling parameters are refused; a translation drops them. */
  refusesSampling?: boolean;
  /** How thinking is asked for in Messages; "none" for a model that can't think. */
  thinking?: "budget" | "adaptive" | "none";
  /** The efforts that it takes: a wish is moved to the nearest, and dropped where the list is empty. Absent: not known. */
  efforts?: readonly Effort[];
  /** It knows the role `developer` beside `system`. */
  developerRole?: boolean;
  /** The member of a chat message that carries reasoning back to it. */
  reasoningField?: "reasoning_content" | "reasoning";
  /** It refuses ids of tool calls that are not nine letters and digits; others are given such a one. */
  shortCallIds?: boolean;
  /** Stands in for the signature of a tool call that the upstream demands and the client has lost. */
  lostCallSignature?: JsonObject;
  /** It puts its thoughts between `<think>` tags at the beginning of the content. */
  thinkTags?: boolean;
}
