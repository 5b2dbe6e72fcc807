/** Members of a chat answer that few upstreams use, whole and as a stream. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../../core/index.ts";
import { type AnswerBlock, collectAnswer } from "../../conversation/index.ts";
import { chatUpstream } from "../../../../test/kit/dialects/contexts.ts";
import { chatTranslation } from "../translation.ts";
import { ChatStreamReader } from "./stream-reader.ts";

function blocksOf(message: JsonObject, reason: string): readonly AnswerBlock[] {
  const choice = { index: 0, message, finish_reason: reason };
  return chatTranslation.readAnswer({ choices: [choice] }, chatUpstream).choices[0]?.blocks ?? [];
}

function streamedBlocksOf(deltas: readonly JsonObject[], reason: string): readonly AnswerBlock[] {
  const reader = new ChatStreamReader(chatUpstream);
  const chunks = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: reason }];
  const events = chunks.flatMap((chunk) => reader.read(JSON.stringify({ choices: [{ index: 0, ...chunk }] })));
  return collectAnswer([...events, ...reader.read("[DONE]"), ...reader.close()]).choices[0]?.blocks ?? [];
}

const call = { kind: "tool-call", name: "f", arguments: '{"a":1}' };

test("a call in the former member is a call", () => {
  const message = { content: null, function_call: { name: "f", arguments: '{"a":1}' } };
  expect(blocksOf(message, "function_call")).toMatchObject([call]);
  const deltas = [
    { function_call: { name: "f", arguments: "" } },
    { function_call: { arguments: '{"a"' } },
    { function_call: { arguments: ":1}" } },
  ];
  expect(streamedBlocksOf(deltas, "function_call")).toMatchObject([call]);
});

test("an empty one beside the calls is none", () => {
  const calls = [{ id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } }];
  const message = { content: null, tool_calls: calls, function_call: { name: "", arguments: "" } };
  expect(blocksOf(message, "tool_calls")).toMatchObject([{ ...call, callId: "call_1" }]);
});

test("the words of a spoken answer are its text", () => {
  expect(blocksOf({ content: null, audio: { id: "a", data: "UklGRg==", transcript: "Hello." } }, "stop")).toMatchObject(
    [{ kind: "text", text: "Hello." }],
  );
  const deltas = [
    { audio: { id: "a", transcript: "Hel" } },
    { audio: { data: "UklGRg==" } },
    { audio: { transcript: "lo." } },
  ];
  expect(streamedBlocksOf(deltas, "stop")).toMatchObject([{ kind: "text", text: "Hello." }]);
});

test("the words of one that is written as well are not its text again", () => {
  const message = { content: "Hello.", audio: { id: "a", data: "UklGRg==", transcript: "Hello." } };
  expect(blocksOf(message, "stop")).toMatchObject([{ kind: "text", text: "Hello." }]);
});
