import {
  budgetOfEffort,
  budgetTokensMin,
  type Effort,
  effortOfBudget,
  isAbove,
  type JsonObject,
  nearestEffort,
} from "../../../core/index.ts";
import {
  belongsTo,
  type Conversation,
  defined,
  type Part,
  type ReasoningOptions,
  type Signature,
  type TranslationTarget,
} from "../../conversation/index.ts";

/** A request's thinking options. */
export interface ThinkingPlan {
  thinking: JsonObject | undefined;
  effort: Effort | undefined;
  /** Whether the model will think; then it accepts no sampling parameters. */
  thinks: boolean;
}

/** The efforts of `output_config`. */
const offered: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

const noThinking: ThinkingPlan = { thinking: undefined, effort: undefined, thinks: false };

/** The requested reasoning in Messages' format, or none if the rest of the request excludes thinking. */
export function planThinking(conversation: Conversation, target: TranslationTarget, maxTokens: number): ThinkingPlan {
  const { reasoning, rest } = conversation;
  if (reasoning === undefined) return noThinking;
  if (rest.dialect === "messages") {
    const fitting = fitThinking(reasoning, target);
    return fitting.mode === "budget" && hasForeignThoughts(conversation, target)
      ? leftOut(target)
      : requestedThinking(fitting);
  }
  if (target.thinking === "none") return noThinking;
  if (reasoning.mode === "off" || reasoning.effort === "none") {
    return requestedThinking(fitThinking({ mode: "off" }, target));
  }
  const forced = conversation.toolChoice?.mode === "required" || conversation.toolChoice?.mode === "tool";
  if (forced) return leftOut(target);
  return target.thinking === "adaptive" ? adaptive(reasoning) : budgeted(conversation, reasoning, target, maxTokens);
}

/** The client has asked for thinking, and does not get it. */
function leftOut({ changed }: TranslationTarget): ThinkingPlan {
  changed?.("thinking");
  return noThinking;
}

/** Thinking that the model refuses, as the nearest that it takes: a budget is an effort to models that decide themselves. */
function fitThinking(
  reasoning: ReasoningOptions,
  { thinking, alwaysThinks, unthinkingEffortMax, changed }: TranslationTarget,
): ReasoningOptions {
  const { mode, effort, budgetTokens, display } = reasoning;
  if (mode === "off" && alwaysThinks !== undefined) {
    changed?.("thinking");
    return alwaysThinks === "yes" ? { effort } : { mode: "between-tools", effort };
  }
  if (mode === "off" && isAbove(effort, unthinkingEffortMax)) {
    changed?.("thinking");
    return { mode, effort: unthinkingEffortMax };
  }
  if (mode !== "budget" || thinking !== "adaptive") return reasoning;
  changed?.("thinking");
  const wanted = effort ?? (budgetTokens === undefined ? undefined : effortOfBudget(budgetTokens));
  return { mode: "adaptive", effort: wanted && nearestEffort(wanted, offered), display };
}

function requestedThinking({ mode, budgetTokens, effort, display }: ReasoningOptions): ThinkingPlan {
  switch (mode) {
    case "budget":
      return { thinking: defined({ type: "enabled", budget_tokens: budgetTokens, display }), effort, thinks: true };
    case "adaptive":
      return { thinking: defined({ type: "adaptive", display }), effort, thinks: true };
    case "between-tools":
      return { thinking: defined({ type: "between_tools", display }), effort, thinks: true };
    case "off":
      return { thinking: { type: "disabled" }, effort, thinks: false };
    case undefined:
      return { thinking: undefined, effort, thinks: false };
  }
}

function adaptive({ effort }: ReasoningOptions): ThinkingPlan {
  return {
    thinking: { type: "adaptive" },
    effort: effort === undefined ? undefined : nearestEffort(effort, offered),
    thinks: true,
  };
}

/** The answer's share of the whole output, and its least tokens: a budget up to the limit would leave it nothing. */
const ANSWER_SHARE = 4;
const ANSWER_TOKENS_MIN = 512;

/** The budget must leave room for the answer within the limit of the whole output, and has a minimum. */
function budgeted(
  conversation: Conversation,
  { budgetTokens, effort = "medium" }: ReasoningOptions,
  target: TranslationTarget,
  maxTokens: number,
): ThinkingPlan {
  const wanted = budgetTokens ?? budgetOfEffort[effort === "none" ? "minimal" : effort];
  const budget = Math.min(wanted, maxTokens - Math.max(ANSWER_TOKENS_MIN, Math.floor(maxTokens / ANSWER_SHARE)));
  if (budget < budgetTokensMin || lostItsThoughts(conversation, target)) return leftOut(target);
  return { thinking: { type: "enabled", budget_tokens: budget }, effort: undefined, thinks: true };
}

/**
 * Whether the conversation is within a loop of tool calls whose thoughts the client has not returned, or which another
 * model produced. An upstream with thinking refuses such a loop; it continues without thinking.
 */
function lostItsThoughts(conversation: Conversation, target: TranslationTarget): boolean {
  const parts = callTurnOfLoop(conversation);
  return parts !== undefined && !parts.some((part) => part.kind === "reasoning" && isOwn(part.signature, target));
}

/** The same for a client of this dialect: only our own omissions matter, not the client's. */
function hasForeignThoughts(conversation: Conversation, target: TranslationTarget): boolean {
  return callTurnOfLoop(conversation)?.some((part) => isForeign(part, target)) === true;
}

/** A thought, or the signature that represents one beside its call. */
function isForeign(part: Part, target: TranslationTarget): boolean {
  if (part.kind === "reasoning") return !isOwn(part.signature, target);
  return part.kind === "tool-call" && part.signature !== undefined && !isOwn(part.signature, target);
}

function isOwn(signature: Signature | undefined, target: TranslationTarget): boolean {
  return signature?.value !== "" && belongsTo(signature, target, "messages");
}

/** The turn of the calls whose results come last; undefined if no results come last. */
function callTurnOfLoop({ turns }: Conversation): readonly Part[] | undefined {
  const last = turns.at(-1);
  const within = last?.role === "tool" || last?.parts.some(({ kind }) => kind === "tool-result") === true;
  if (!within) return undefined;
  return turns.findLast(({ role }) => role === "assistant")?.parts ?? [];
}
