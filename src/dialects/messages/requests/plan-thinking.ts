import { type Effort, type JsonObject, nearestEffort } from "../../../core/index.ts";
import {
  belongsTo,
  budgetOfEffort,
  budgetTokensMin,
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
    return reasoning.mode === "budget" && hasForeignThoughts(conversation, target)
      ? noThinking
      : requestedThinking(reasoning);
  }
  if (target.thinking === "none") return noThinking;
  if (reasoning.mode === "off" || reasoning.effort === "none") {
    return { ...noThinking, thinking: { type: "disabled" } };
  }
  const forced = conversation.toolChoice?.mode === "required" || conversation.toolChoice?.mode === "tool";
  if (forced) return noThinking;
  return target.thinking === "adaptive" ? adaptive(reasoning) : budgeted(conversation, reasoning, target, maxTokens);
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

/** The budget must be below the limit of the whole output, and has a minimum. */
function budgeted(
  conversation: Conversation,
  { budgetTokens, effort = "medium" }: ReasoningOptions,
  target: TranslationTarget,
  maxTokens: number,
): ThinkingPlan {
  const wanted = budgetTokens ?? budgetOfEffort[effort === "none" ? "minimal" : effort];
  const budget = Math.min(wanted, maxTokens - 1);
  if (budget < budgetTokensMin || lostItsThoughts(conversation, target)) return noThinking;
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
