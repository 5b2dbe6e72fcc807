import type { StopReason } from "../../conversation/index.ts";

const reasons: Readonly<Record<string, StopReason>> = {
  stop: "end",
  length: "length",
  model_length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter",
};

/** Finish reasons that some upstreams use for errors (`docs/wire/others.md`). */
const failures: ReadonlySet<string> = new Set(["error", "insufficient_system_resource"]);

export function isFailureReason(word: string): boolean {
  return failures.has(word);
}

/** Some upstreams send `stop` after a call; an unknown reason ends the answer normally. */
export function readFinishReason(word: string, hasCalls: boolean): StopReason {
  const reason = Object.hasOwn(reasons, word) ? (reasons[word] ?? "end") : "end";
  if (reason === "end" && hasCalls) return "tool-calls";
  return reason === "tool-calls" && !hasCalls ? "end" : reason;
}

const words: Readonly<Record<StopReason, string>> = {
  end: "stop",
  "stop-sequence": "stop",
  // The answer is not complete, and a client of this dialect can only ask to go on.
  pause: "length",
  length: "length",
  "context-window": "length",
  "tool-calls": "tool_calls",
  refusal: "content_filter",
  "content-filter": "content_filter",
};

export function writeFinishReason(reason: StopReason): string {
  return words[reason];
}
