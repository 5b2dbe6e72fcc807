import type { StopReason } from "../../conversation/index.ts";

const reasons: Readonly<Record<string, StopReason>> = {
  STOP: "end",
  MAX_TOKENS: "length",
  CONTINUATION: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  LANGUAGE: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
  IMAGE_RECITATION: "content-filter",
  ESCALATION: "content-filter",
  PUP_LIMITED_DISABLED: "content-filter",
  MODEL_ARMOR: "content-filter",
};

/** The model has given up: nothing it wrote before can be relied on (`docs/wire/gemini.md`). */
const failures: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
]);

export function isFailureReason(word: string): boolean {
  return failures.has(word);
}

/** There is no reason for a call of a tool; an unknown one ends the answer normally. */
export function readFinishReason(word: string, hasCalls: boolean): StopReason {
  const reason = Object.hasOwn(reasons, word) ? (reasons[word] ?? "end") : "end";
  return reason === "end" && hasCalls ? "tool-calls" : reason;
}

const words: Readonly<Record<StopReason, string>> = {
  end: "STOP",
  "stop-sequence": "STOP",
  "tool-calls": "STOP",
  pause: "STOP",
  length: "MAX_TOKENS",
  "context-window": "MAX_TOKENS",
  refusal: "SAFETY",
  "content-filter": "SAFETY",
};

/** `refuses`: the model has refused in words, which other dialects express by a normal end. */
export function writeFinishReason(reason: StopReason, refuses: boolean): string {
  return refuses && reason === "end" ? "SAFETY" : words[reason];
}
