import type { StopReason } from "../../conversation/index.ts";

const reasons: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  max_tokens: "length",
  model_context_window_exceeded: "context-window",
  stop_sequence: "stop-sequence",
  tool_use: "tool-calls",
  pause_turn: "pause",
  refusal: "refusal",
};

/** An unknown stop reason ends the answer normally. */
export function readStopReason(word: string): StopReason {
  return Object.hasOwn(reasons, word) ? (reasons[word] ?? "end") : "end";
}

const words: Readonly<Record<StopReason, string>> = {
  end: "end_turn",
  length: "max_tokens",
  "context-window": "model_context_window_exceeded",
  "stop-sequence": "stop_sequence",
  "tool-calls": "tool_use",
  pause: "pause_turn",
  refusal: "refusal",
  "content-filter": "refusal",
};

/** `refuses`: the model has refused explicitly, which other dialects express by a normal end. */
export function writeStopReason(reason: StopReason, refuses: boolean): string {
  return refuses && reason === "end" ? "refusal" : words[reason];
}
