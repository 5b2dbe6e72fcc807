import type { Conversation, Turn } from "../conversation.ts";
import type { Part } from "../parts.ts";
import type { TranslationTarget } from "../translation.ts";

const request = "Continue your last message exactly where it ends, and repeat nothing of it.";

/**
 * The conversation for a model that refuses an answer to continue: the user asks for its end. An empty one is left out, and one
 * that ends with a call, or with a tool that the upstream runs, is no such answer.
 */
export function withoutPrefill(
  conversation: Conversation,
  { refusesPrefill, changed }: Pick<TranslationTarget, "refusesPrefill" | "changed">,
): Conversation {
  const { turns } = conversation;
  const at = turns.findLastIndex(({ role }) => role !== "system" && role !== "developer");
  const last = turns[at];
  if (refusesPrefill !== true || last?.role !== "assistant" || !last.parts.every(isSaid)) return conversation;
  changed?.("prefill");
  if (last.parts.every((part) => part.kind !== "text" || part.text.trim() === "")) {
    return { ...conversation, turns: turns.toSpliced(at, 1) };
  }
  const next: Turn = { role: "user", at: last.at, parts: [{ kind: "text", at: last.at, text: request }] };
  return { ...conversation, turns: turns.toSpliced(at + 1, 0, next) };
}

function isSaid({ kind }: Part): boolean {
  return kind !== "tool-call" && kind !== "native";
}
