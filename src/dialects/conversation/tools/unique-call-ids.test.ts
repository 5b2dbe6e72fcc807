import { expect, test } from "bun:test";
import type { Turn } from "../conversation.ts";
import { uniqueCallIds } from "./unique-call-ids.ts";

function answerOf(...ids: string[]): Turn {
  return {
    role: "assistant",
    at: "messages.1",
    parts: ids.map((callId) => ({ kind: "tool-call", at: "x", callId, name: "f", arguments: "{}" })),
  };
}

const resultsOf = (...ids: string[]): Turn => ({
  role: "user",
  at: "messages.2",
  parts: ids.map((callId) => ({ kind: "tool-result", at: "x", callId, content: [] })),
});

const idsIn = (turns: readonly Turn[]): string[] =>
  turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === "tool-call" || part.kind === "tool-result" ? [part.callId] : [])),
  );

test("a repeated id gets a number that no other call has, and results follow", () => {
  const turns = [answerOf("a", "a_2", "a", "a"), resultsOf("a", "a_2", "a", "a")];
  expect(idsIn(uniqueCallIds(turns))).toEqual(["a", "a_2", "a_3", "a_4", "a", "a_2", "a_3", "a_4"]);
});

test("one id for all calls of a body takes no quadratic time", () => {
  const ids = Array.from({ length: 16_000 }, () => "a");
  // Minutes, if the numbers are counted up for each call.
  const unique = idsIn(uniqueCallIds([answerOf(...ids), resultsOf(...ids)]));
  expect([unique.length, new Set(unique).size, unique.at(-1)]).toEqual([32_000, 16_000, "a_16000"]);
});
