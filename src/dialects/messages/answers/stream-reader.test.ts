import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../core/index.ts";
import { type AnswerEvent, collectAnswer } from "../../conversation/index.ts";
import { messagesUpstream } from "../../../../test/kit/dialects/contexts.ts";
import { MessagesStreamReader } from "./stream-reader.ts";

const start: JsonObject = {
  type: "message_start",
  message: { id: "msg_1", model: "claude", usage: { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 1 } },
};
const begin = (index: number, block: JsonObject): JsonObject => ({
  type: "content_block_start",
  index,
  content_block: block,
});
const delta = (index: number, value: JsonObject): JsonObject => ({ type: "content_block_delta", index, delta: value });
const end = (index: number): JsonObject => ({ type: "content_block_stop", index });
const stop = (usage: JsonObject = { output_tokens: 5 }): JsonObject => ({
  type: "message_delta",
  delta: { stop_reason: "end_turn" },
  usage,
});
const last: JsonObject = { type: "message_stop" };

function read(...events: JsonObject[]): AnswerEvent[] {
  const reader = new MessagesStreamReader(messagesUpstream);
  return [...events.flatMap((event) => [...reader.read(JSON.stringify(event))]), ...reader.close()];
}

const blocksOf = (...events: JsonObject[]) => collectAnswer(read(start, ...events, stop(), last)).choices[0]?.blocks;

describe("usage", () => {
  const usageOf = (usage: JsonObject) => collectAnswer(read(start, stop(usage), last)).usage;

  test("at the end replaces that at the start, if present", () => {
    expect(usageOf({ output_tokens: 5 })).toMatchObject({ input: 9, cacheRead: 4, output: 5 });
    expect(usageOf({ input_tokens: 10, cache_read_input_tokens: null, output_tokens: 5 })).toMatchObject({
      input: 10,
      cacheRead: 4,
      output: 5,
    });
  });

  const busy = { type: "error", error: { type: "overloaded_error", message: "Busy" } };

  test("of the input comes before an error", () => {
    const said = [begin(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "12345678" })];
    expect(read(start, ...said, busy).slice(-2)).toMatchObject([
      { type: "usage", usage: { input: 9, cacheRead: 4, output: 0 } },
      { type: "error", failure: { kind: "overloaded", message: "Busy" } },
    ]);
  });

  test("is absent if the upstream has counted nothing", () => {
    const uncounted = { type: "message_start", message: { id: "m", usage: {} } };
    expect(read(uncounted, busy).map(({ type }) => type)).toEqual(["start", "error"]);
  });
});

describe("blocks", () => {
  const tool = { type: "tool_use", id: "t", name: "f", input: {} };

  test("of tools whose input comes at the start equal those in pieces", () => {
    const whole = { kind: "tool-call", callId: "t", name: "f", arguments: '{"a":1}' };
    expect(blocksOf(begin(0, { ...tool, input: { a: 1 } }), end(0))).toEqual([whole as never]);
    const pieces = ['{"a"', "", ":1}"].map((json) => delta(0, { type: "input_json_delta", partial_json: json }));
    expect(blocksOf(begin(0, tool), ...pieces, end(0))).toEqual([whole as never]);
  });

  test("end with their own event, not with the next one", () => {
    const reader = new MessagesStreamReader(messagesUpstream);
    const types = (event: JsonObject) => reader.read(JSON.stringify(event)).map(({ type }) => type);
    expect(types(start)).toEqual(["start"]);
    expect(types(begin(0, tool))).toEqual(["block-start"]);
    expect(types(end(0))).toEqual(["block-end"]);
    expect(types(stop())).toEqual(["stop"]);
    expect(types(last)).toEqual(["usage", "end"]);
  });

  test("that were never ended are ended with the message", () => {
    const text = delta(0, { type: "text_delta", text: "a" });
    expect(blocksOf(begin(0, { type: "text", text: "" }), text)).toEqual([{ kind: "text", text: "a" }]);
  });

  test("of unknown kinds and deltas are kept separately", () => {
    const strange = begin(0, { type: "weather", sunny: true });
    expect(blocksOf(strange, delta(0, { type: "rain" }), end(0), delta(7, { type: "text_delta", text: "?" }))).toEqual([
      { kind: "native", dialect: "messages", value: { type: "weather", sunny: true } },
    ]);
  });
});

describe("blocks of a compaction", () => {
  test("get their text by deltas", () => {
    const compaction = begin(0, { type: "compaction", content: null });
    const told = [delta(0, { type: "compaction_delta", content: "So ", encrypted_content: null }), end(0)];
    const more = delta(0, { type: "compaction_delta", content: "far." });
    expect(blocksOf(compaction, ...told.toSpliced(1, 0, more))).toEqual([
      { kind: "native", dialect: "messages", value: { type: "compaction", content: "So far." } },
    ]);
  });
});

describe("a start", () => {
  const call = { type: "tool_use", id: "t", name: "f", input: { x: 1 } };
  const message = { id: "msg_1", model: "claude", content: [call], stop_reason: "tool_use", usage: {} };

  test("with the whole message is read", () => {
    const answer = collectAnswer(read({ type: "message_start", message }, last));
    expect(answer.choices).toEqual([
      {
        blocks: [{ kind: "tool-call", callId: "t", name: "f", arguments: '{"x":1}' }],
        stop: { reason: "tool-calls" },
      },
    ]);
  });

  test("that is repeated changes nothing", () => {
    const said = [begin(0, { type: "text", text: "" }), start, delta(0, { type: "text_delta", text: "a" }), start];
    expect(blocksOf(...said)).toEqual([{ kind: "text", text: "a" }]);
  });

  test("of another message ends the answer with an error", () => {
    const again = { type: "message_start", message: { id: "msg_2", model: "claude", usage: {} } };
    const events = read(start, begin(0, { type: "text", text: "a" }), again, end(0), stop(), last);
    expect(events.at(-1)).toMatchObject({ type: "error", failure: { code: "upstream_interrupted" } });
  });
});

describe("the end", () => {
  test("without message_stop is complete if the message has stopped, else an error", () => {
    expect(read(start, stop()).at(-1)).toEqual({ type: "end" });
    expect(read(start).at(-1)).toMatchObject({ type: "error", failure: { code: "upstream_interrupted" } });
  });

  test("names the stop sequence and the explanation of a refusal", () => {
    const said = { stop_reason: "refusal", stop_sequence: "END", stop_details: { type: "refusal", category: "bio" } };
    const answer = collectAnswer(read(start, { type: "message_delta", delta: said, usage: {} }, last));
    expect(answer.choices[0]?.stop).toEqual({
      reason: "refusal",
      sequence: "END",
      details: { type: "refusal", category: "bio" },
    });
  });
});
