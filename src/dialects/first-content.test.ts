import { describe, expect, test } from "bun:test";
import { chatUpstream, messagesUpstream, responsesUpstream } from "../../test/kit/dialects/contexts.ts";
import type { JsonObject } from "../core/index.ts";
import { type FirstContent, firstContentOf, isRefusal } from "./first-content.ts";
import { translations } from "./index.ts";

const contexts = { chat: chatUpstream, messages: messagesUpstream, responses: responsesUpstream };

type Name = keyof typeof contexts;

const event = (data: JsonObject | string): string =>
  `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** The state after these events, all in one block. */
function after(dialect: Name, ...events: (JsonObject | string)[]): FirstContent {
  const content = firstContentOf(translations[dialect].streamReader(contexts[dialect]));
  content.see(Buffer.from(events.map(event).join("")));
  return content;
}

const delta = (value: JsonObject, reason: string | null = null): JsonObject => ({
  id: "c",
  choices: [{ index: 0, delta: value, finish_reason: reason }],
});
const started: JsonObject = { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 1 } } };
const block = (value: JsonObject): JsonObject => ({ type: "content_block_start", index: 0, content_block: value });
const blockDelta = (value: JsonObject): JsonObject => ({ type: "content_block_delta", index: 0, delta: value });
const created: JsonObject = { type: "response.created", response: { id: "r", output: [] } };
const added = (item: JsonObject): JsonObject => ({ type: "response.output_item.added", output_index: 0, item });
const message = added({ type: "message", id: "i", content: [] });
const part = (value: JsonObject): JsonObject => ({
  type: "response.content_part.added",
  output_index: 0,
  content_index: 0,
  part: value,
});
const deltaOf = (type: string, text: string): JsonObject => ({
  type: `response.${type}.delta`,
  output_index: 0,
  content_index: 0,
  delta: text,
});

describe("no content", () => {
  test.each<[Name, string, (JsonObject | string)[]]>([
    ["chat", "a role", [delta({ role: "assistant", content: "" }), delta({ content: "", refusal: null })]],
    ["chat", "a prompt's filter results", [{ choices: [], prompt_filter_results: [{}] }, "ping"]],
    [
      "chat",
      "the name of a tool",
      [delta({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] })],
    ],
    ["messages", "a start and a ping", [started, { type: "ping" }]],
    ["messages", "the start of a text", [started, block({ type: "text", text: "" })]],
    ["messages", "the start of a thought", [started, block({ type: "thinking", thinking: "", signature: "" })]],
    ["messages", "the name of a tool", [started, block({ type: "tool_use", id: "t", name: "f", input: {} })]],
    ["responses", "a start", [created, { ...created, type: "response.in_progress" }]],
    ["responses", "the start of a message", [created, message, part({ type: "output_text", text: "" })]],
  ])("%s: %s", (dialect, _, events) => {
    const { progress, hasEnded, characters } = after(dialect, ...events);
    expect({ progress, hasEnded, characters }).toEqual({ progress: "nothing", hasEnded: false, characters: 0 });
  });
});

describe("content", () => {
  test.each<[Name, string, JsonObject[], number]>([
    ["chat", "text", [delta({ role: "assistant" }), delta({ content: "four" })], 4],
    ["chat", "thoughts", [delta({ reasoning_content: "hm" })], 2],
    [
      "chat",
      "arguments",
      [delta({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] })],
      2,
    ],
    ["chat", "sound", [delta({ role: "assistant", audio: { id: "a", data: "AAAA" } })], 0],
    ["chat", "an answer without text", [delta({ role: "assistant" }), delta({}, "stop")], 0],
    [
      "messages",
      "text",
      [started, block({ type: "text", text: "" }), blockDelta({ type: "text_delta", text: "hi" })],
      2,
    ],
    [
      "messages",
      "a thought",
      [started, block({ type: "thinking", thinking: "" }), blockDelta({ type: "thinking_delta", thinking: "hm" })],
      2,
    ],
    [
      "messages",
      "a signature",
      [started, block({ type: "thinking", thinking: "" }), blockDelta({ type: "signature_delta", signature: "s" })],
      0,
    ],
    ["messages", "a hidden thought", [started, block({ type: "redacted_thinking", data: "x" })], 0],
    [
      "messages",
      "arguments",
      [
        started,
        block({ type: "tool_use", id: "t", name: "f", input: {} }),
        blockDelta({ type: "input_json_delta", partial_json: "{" }),
      ],
      1,
    ],
    ["responses", "text", [created, message, part({ type: "output_text", text: "" }), deltaOf("output_text", "hi")], 2],
    [
      "responses",
      "arguments",
      [
        created,
        added({ type: "function_call", call_id: "c", name: "f", arguments: "" }),
        deltaOf("function_call_arguments", "{"),
      ],
      1,
    ],
  ])("%s: %s", (dialect, _, events, characters) => {
    const content = after(dialect, ...events);
    expect([content.progress, content.characters, content.failure]).toEqual(["content", characters, undefined]);
    // Nothing later changes that.
    content.see(Buffer.from(event(delta({ refusal: "no" }))));
    expect(content.progress).toBe("content");
  });

  test("is not the word of a text", () => {
    expect(after("messages", started, { type: "ping", note: 'an "audio": {' }).progress).toBe("nothing");
  });
});

describe("a refusal before all content", () => {
  test.each<[Name, JsonObject[]]>([
    ["chat", [delta({ role: "assistant" }), delta({ refusal: "I can't" })]],
    ["chat", [delta({ role: "assistant" }), delta({}, "content_filter")]],
    ["messages", [started, { type: "message_delta", delta: { stop_reason: "refusal" }, usage: { output_tokens: 1 } }]],
    ["responses", [created, message, part({ type: "refusal", refusal: "" }), deltaOf("refusal", "I can't")]],
  ])("%s", (dialect, events) => {
    expect(after(dialect, ...events).progress).toBe("refusal");
  });
});

test("an error ends the stream, in each dialect's words", () => {
  const ends = [
    after("chat", delta({ role: "assistant" }), { error: { message: "busy", code: "overloaded" } }),
    after("messages", started, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
    after("responses", created, {
      type: "response.failed",
      response: { error: { code: "rate_limit_exceeded", message: "x" } },
    }),
    after("responses", created, { type: "error", code: "server_is_overloaded", message: "x" }),
  ];
  expect(ends.map(({ hasEnded, failure }) => [hasEnded, failure?.kind])).toEqual([
    [true, "overloaded"],
    [true, "overloaded"],
    [true, "rate-limit"],
    [true, "overloaded"],
  ]);
});

test("a whole answer is a refusal if it is nothing else", () => {
  const stop = { reason: "end" as const };
  const refusal = { kind: "refusal" as const, text: "no" };
  expect(isRefusal([{ blocks: [refusal], stop }])).toBe(true);
  expect(isRefusal([{ blocks: [], stop: { reason: "refusal" } }])).toBe(true);
  expect(isRefusal([{ blocks: [{ kind: "text", text: "Well" }, refusal], stop }])).toBe(false);
  expect(isRefusal([{ blocks: [], stop }])).toBe(false);
});
