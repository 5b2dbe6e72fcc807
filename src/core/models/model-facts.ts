import type { JsonObject } from "../json.ts";

/** How much a model should think, from not at all to as much as it can. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof efforts)[number];

/** How much a model should think: by either, or as much as it likes. */
export interface ThoughtOptions {
  effort?: Effort | undefined;
  budgetTokens?: number | undefined;
}

/** The subjects of the facts about models: a request that does not fit one is changed, and `x-tollgate-changes` names it. */
export const factNames = [
  "roles",
  "efforts",
  "thinking",
  "thoughts",
  "sampling",
  "output-limit",
  "formats",
  "schemas",
  "forced-tools",
  "chat-tools",
  "tool-names",
  "client-tools",
  "searches",
  "hosted-items",
  "call-ids",
  "call-order",
  "prefill",
  "members",
  "tool-results",
  "images",
  "stop",
  "answer",
] as const;

export type FactName = (typeof factNames)[number];

/**
 * How a model differs from others of its dialect, as far as a request to it must fit: `providers/facts` states it, dialects
 * apply it. An absent member means the dialect's default.
 */
export interface ModelFacts {
  /** The sampling parameters that it refuses unless they have their default value. */
  refusedSampling?: readonly string[];
  /** It takes them while it is asked not to think, or not asked to think. */
  samplesWithoutThought?: boolean;
  /** In chat it refuses the former name of the output's limit, `max_tokens`. */
  newLimitName?: boolean;
  /** It refuses stop sequences: the gateway cuts its answers before them. */
  refusesStop?: boolean;
  /** In chat it refuses functions unless it is asked not to think. */
  toolsWithoutThought?: boolean;
  /** It refuses a choice that forces a tool. */
  freeToolChoice?: boolean;
  /** In chat `reasoning_effort` alone asks it to think: it refuses or ignores OpenRouter's `reasoning` and Anthropic's `thinking`. */
  effortAlone?: boolean;
  /** In chat `thinking` switches its thinking off, in the place of the effort none. */
  hasThinkingSwitch?: boolean;
  /** With tools it takes earlier answers only with their thoughts, in `reasoning_content`, unless it is asked not to think. */
  needsThoughts?: boolean;
  /** In Responses its thoughts are `reasoning_text`, and return as that: those of others by their text alone. */
  plainThoughts?: boolean;
  /** In Responses it takes the calls of an answer behind its text alone, directly before their results. */
  callsLast?: boolean;
  /** An answer to continue, the last message, must be marked as such. */
  marksPrefill?: boolean;
  /** It refuses an answer to continue: the last message must be the user's, or a tool's. */
  refusesPrefill?: boolean;
  /** The members of a chat message that it takes; absent: any, since it ignores those that it does not know. */
  messageMembers?: readonly string[];
  /** It refuses the names of chat messages. */
  noMessageNames?: boolean;
  /** In Responses it takes results of tools as texts alone, not as lists of parts. */
  textResults?: boolean;
  /** It takes the data of images, not their addresses. */
  inlineImages?: boolean;
  /** In Messages its thinking can't be switched off: the nearest is to think between tools, or nothing. */
  alwaysThinks?: "between-tools" | "yes";
  /** In Messages the highest effort that it takes while its thinking is switched off; absent: any. */
  unthinkingEffortMax?: Effort;
  /** It takes `system` as the first message only. */
  systemFirst?: boolean;
  /** How thinking is requested in Messages; "none" for a model that can't think. */
  thinking?: "budget" | "adaptive" | "none";
  /** In Gemini's own API its answers may be pictures. */
  drawsPictures?: boolean;
  /** In Gemini's own API its thinking is asked for by a budget of tokens; otherwise by a level. */
  thinkingBudgets?: boolean;
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
   * calls, in the member in which it came. `part`: among the parts of the content.
   */
  reasoningField?: "reasoning_content" | "reasoning" | "as-shown" | "part";
  /** Its thoughts are among the parts of the content, which is a list then: always, or if it is asked to think. */
  showsThoughtParts?: "always" | "asked";
  /** It refuses tool call ids unless they are nine letters and digits; other ids are replaced by such ids. */
  shortCallIds?: boolean;
  /** The most characters of a tool's name, which are letters, digits, `_` and `-`; absent: any name. */
  toolNameMax?: number;
  /**
   * Schemas of answers and of strict tools have no bounds, patterns and the like; those of other tools have no alternatives
   * at the top.
   */
  plainSchemas?: boolean;
  /** Replaces the signature of a tool call if the upstream requires one and the client has lost it. */
  lostCallSignature?: JsonObject;
  /** It refuses a loop of tool calls without the signatures. */
  needsCallSignature?: boolean;
  /** In Responses it shows a summary of its thoughts if it is asked to, and otherwise hides them. */
  summarizesThoughts?: boolean;
  /** It shows its thoughts in chat if these members of the body ask for them, in place of `reasoning_effort`. */
  askForThoughts?: (asked: ThoughtOptions) => JsonObject;
  /** Its names of service tiers, by OpenAI's, if they differ. */
  tierNames?: Readonly<Record<string, string>>;
  /** Types of the client's tools that it takes besides functions: `custom`, `shell`, `apply_patch` … */
  clientTools?: readonly string[];
  /** Types of items of Responses that other providers' tools make, and that it refuses in a history. */
  foreignItems?: readonly string[];
  /** It may write its reasoning between `<think>` or `<thought>` tags at the beginning of the content. */
  thinkTags?: boolean;
}

/** Whether an effort is higher than the most that there may be; without either it is not. */
export function isAbove(effort: Effort | undefined, most: Effort | undefined): boolean {
  return effort !== undefined && most !== undefined && efforts.indexOf(effort) > efforts.indexOf(most);
}

/**
 * The offered effort that is the nearest lower one to the requested one, for more would cost more than was asked for; the
 * lowest if none is lower. Undefined if thinking can't be switched off, or if no effort is offered.
 */
export function nearestEffort(requested: Effort, offered: readonly Effort[]): Effort | undefined {
  const most = efforts.indexOf(requested);
  const rising = efforts.filter((effort) => offered.includes(effort));
  const lower = rising.findLast((effort) => efforts.indexOf(effort) <= most);
  return lower ?? (requested === "none" ? undefined : rising[0]);
}
