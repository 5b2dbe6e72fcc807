import { describe, expect, test } from "bun:test";
import { type JsonObject, GatewayError } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import { type AnswerEvent, eventsOfAnswer, failureOf } from "./conversation/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { chatUpstream, clientOf, messagesUpstream } from "../../test/kit/dialects/contexts.ts";
import { dataOfStream } from "../../test/kit/dialects/fold-chat.ts";

interface Message {
  content: JsonObject[];
  stop_reason: string;
  usage: JsonObject;
}

const completion = (message: JsonObject, reason = "stop", more: JsonObject = {}): JsonObject => ({
  id: "chatcmpl-1",
  model: "m",
  choices: [{ index: 0, message, finish_reason: reason }],
  ...more,
});

const asMessage = (answer: JsonObject): Message =>
  JSON.parse(messagesTranslation.writeAnswer(chatTranslation.readAnswer(answer, chatUpstream), clientOf())) as Message;

const message = (content: JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: "msg_1",
  model: "claude",
  content,
  stop_reason: "end_turn",
  usage: { input_tokens: 3, output_tokens: 2 },
  ...more,
});

interface Completion {
  choices: { message: JsonObject; finish_reason: string }[];
  usage: JsonObject;
}

const asCompletion = (answer: JsonObject): Completion =>
  JSON.parse(
    chatTranslation.writeAnswer(messagesTranslation.readAnswer(answer, messagesUpstream), clientOf()),
  ) as Completion;

function streamed(answer: JsonObject): Record<string, unknown>[] {
  const writer = messagesTranslation.streamWriter(clientOf());
  const events = [...eventsOfAnswer(chatTranslation.readAnswer(answer, chatUpstream))];
  return dataOfStream(events.map((event) => writer.write(event)).join("")) as Record<string, unknown>[];
}

describe("service tiers", () => {
  test.each<[string, string | undefined, string]>([
    ["default", "default", "standard"],
    ["flex", "flex", "standard"],
    ["priority", "priority", "priority"],
    ["on_demand", "default", "standard"],
    ["performance", "priority", "priority"],
    ["standard", "default", "standard"],
    ["", undefined, "standard"],
    ["a tier of tomorrow", undefined, "standard"],
  ])("%p is %p in OpenAI's dialects and %p in Messages", (tier, openai, anthropic) => {
    const answer = chatTranslation.readAnswer({ ...completion({ content: "a" }), service_tier: tier }, chatUpstream);
    const told = JSON.parse(chatTranslation.writeAnswer(answer, clientOf())) as JsonObject;
    expect(told["service_tier"]).toBe(openai);
    const shown = JSON.parse(messagesTranslation.writeAnswer(answer, clientOf())) as JsonObject;
    expect(shown["usage"]).toMatchObject({ service_tier: anthropic });
  });
});

describe("stop reasons", () => {
  test.each<[string, string]>([
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
  ])("%s of chat is %s of Messages", (reason, expected) => {
    expect(asMessage(completion({ content: "a" }, reason)).stop_reason).toBe(expected);
  });

  test.each<[string, string]>([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "length"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    ["a word of tomorrow", "stop"],
  ])("%s of Messages is %s of chat", (reason, expected) => {
    const answer = asCompletion(message([{ type: "text", text: "a" }], { stop_reason: reason }));
    expect(answer.choices[0]?.finish_reason).toBe(expected);
  });

  test("a refusal in chat ends a message as one", () => {
    const answer = asMessage(completion({ content: null, refusal: "I can't." }));
    expect(answer.stop_reason).toBe("refusal");
    expect(answer.content).toEqual([{ type: "text", text: "I can't.", citations: [] }]);
  });
});

describe("arguments of tools", () => {
  const call = (said: string) => ({ id: "call_1", type: "function", function: { name: "f", arguments: said } });
  const raw = (said: string): string =>
    messagesTranslation.writeAnswer(
      chatTranslation.readAnswer(completion({ tool_calls: [call(said)] }), chatUpstream),
      clientOf(),
    );

  test.each<[string, string]>([
    ['{"id":12345678901234567890}', '"input":{"id":12345678901234567890}'],
    ["", '"input":{}'],
    ['{"cut', String.raw`"input":{"INVALID_JSON":"{\"cut"}`],
  ])("%p are kept as the model wrote them", (said, expected) => {
    expect(raw(said)).toContain(expected);
  });

  test("that are none are an empty object in chat", () => {
    const answer = asCompletion(
      message([{ type: "tool_use", id: "t", name: "f", input: {} }], { stop_reason: "tool_use" }),
    );
    expect(answer.choices[0]).toMatchObject({
      message: { content: null, tool_calls: [{ id: "t", function: { name: "f", arguments: "{}" } }] },
      finish_reason: "tool_calls",
    });
  });
});

describe("usage", () => {
  test("of a cache is counted beside the input in Messages, and within it in chat", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 8 } };
    expect(asMessage(completion({ content: "a" }, "stop", { usage })).usage).toMatchObject({
      input_tokens: 2,
      cache_read_input_tokens: 8,
      output_tokens: 5,
    });
    const counted = {
      input_tokens: 2,
      cache_read_input_tokens: 8,
      cache_creation: { ephemeral_1h_input_tokens: 4 },
      output_tokens: 5,
    };
    expect(asCompletion(message([], { usage: counted })).usage).toMatchObject({
      prompt_tokens: 14,
      completion_tokens: 5,
      total_tokens: 19,
      prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 4 },
    });
  });

  test("in a stream is an estimate at its start and exact at its end", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const events = streamed(completion({ content: "a" }, "stop", { usage }));
    expect(events[0]).toMatchObject({ message: { usage: { input_tokens: 7, output_tokens: 1 } } });
    expect(events.at(-2)).toMatchObject({ type: "message_delta", usage: { input_tokens: 10, output_tokens: 5 } });
  });
});

describe("thoughts", () => {
  test("of a message stand in chat with their signature sealed", () => {
    const thoughts = [
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "redacted_thinking", data: "zzz" },
      { type: "text", text: "a" },
    ];
    expect(asCompletion(message(thoughts)).choices[0]?.message).toMatchObject({
      content: "a",
      reasoning_content: "hm",
      reasoning_details: [
        { type: "reasoning.text", text: "hm", signature: "tollgate.anthropic.thought.sig", index: 0 },
        { type: "reasoning.encrypted", data: "tollgate.anthropic.cipher.zzz", index: 1 },
      ],
    });
  });

  test("without a signature contain at least their origin", () => {
    const told = asMessage(completion({ content: "a", reasoning_content: "hm" }));
    expect(told.content[0]).toEqual({ type: "thinking", thinking: "hm", signature: "tollgate.deepseek.thought." });
  });

  test("that sign a call stand before it", () => {
    const extra = { google: { thought_signature: "sig" } };
    const call = { id: "c", function: { name: "f", arguments: "{}" }, extra_content: extra };
    const answer = completion({ content: null, tool_calls: [call] }, "tool_calls");
    const signature = `tollgate.deepseek.call.${JSON.stringify(extra)}`;
    expect(asMessage(answer).content).toMatchObject([
      { type: "thinking", thinking: "", signature },
      { type: "tool_use", id: "c" },
    ]);
    expect(streamed(answer).map(({ type, index }) => [type, index])).toEqual([
      ["message_start", undefined],
      ["content_block_start", 0],
      ["content_block_delta", 0],
      ["content_block_stop", 0],
      ["content_block_start", 1],
      ["content_block_delta", 1],
      ["content_block_stop", 1],
      ["message_delta", undefined],
      ["message_stop", undefined],
    ]);
  });
});

test("citations of web pages stand in both", () => {
  const url = { url: "https://x.test", title: "X" };
  const annotations = [{ type: "url_citation", url_citation: { ...url, start_index: 0, end_index: 1 } }];
  expect(asMessage(completion({ content: "ab", annotations })).content).toMatchObject([
    { citations: [{ type: "web_search_result_location", ...url, cited_text: "", encrypted_index: "" }] },
  ]);
  const cited = { type: "web_search_result_location", ...url, cited_text: "q", encrypted_index: "zzz" };
  const blocks = [
    { type: "text", text: "ab" },
    { type: "text", text: "cde", citations: [cited, { type: "page_location" }] },
  ];
  expect(asCompletion(message(blocks)).choices[0]?.message).toMatchObject({
    content: "abcde",
    annotations: [{ type: "url_citation", url_citation: { ...url, start_index: 2, end_index: 5 } }],
  });
});

describe("an invalid answer", () => {
  test.each([{}, { choices: [] }, { choices: "x" }, { error: { message: "m" }, choices: [{}] }])(
    "in chat: %j",
    (answer) => {
      expect(() => chatTranslation.readAnswer(answer, chatUpstream)).toThrow(GatewayError);
    },
  );

  test("in Messages", () => {
    expect(() => messagesTranslation.readAnswer({ type: "message" }, messagesUpstream)).toThrow(GatewayError);
  });
});

describe("errors", () => {
  test.each<[number, string, string, string]>([
    [429, '{"error":{"message":"Slow","type":"requests","code":"rate_limit_exceeded"}}', "rate_limit_error", "Slow"],
    [400, '{"code":"Client specified","error":"speed"}', "invalid_request_error", "speed"],
    [
      400,
      '[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]',
      "invalid_request_error",
      "API key not valid.",
    ],
    [
      422,
      '{"detail":[{"loc":["body"],"msg":"Extra inputs","type":"extra_forbidden"}]}',
      "invalid_request_error",
      "Extra inputs",
    ],
    [401, '{"detail":"Unauthorized"}', "authentication_error", "Unauthorized"],
    [402, '{"object":"error","message":"Pay"}', "billing_error", "Pay"],
    [500, "<html>", "api_error", "The upstream answered 500."],
    [529, "", "overloaded_error", "The upstream answered 529."],
  ])("of chat with %i %s are translated to Messages", (status, body, type, text) => {
    const told: unknown = JSON.parse(
      messagesTranslation.writeFailure(chatTranslation.readFailure(status, body), "req_1"),
    );
    expect(told).toEqual({ type: "error", error: { type, message: text }, request_id: "req_1" });
  });

  test("of Messages are translated to chat", () => {
    const body = '{"type":"error","error":{"type":"overloaded_error","message":"Busy"},"request_id":"r"}';
    const told: unknown = JSON.parse(chatTranslation.writeFailure(messagesTranslation.readFailure(529, body), "req_1"));
    expect(told).toEqual({ error: { message: "Busy", type: "server_error", code: "overloaded_error", param: null } });
  });

  test("of the gateway end a stream in the client's dialect", () => {
    const event: AnswerEvent = { type: "error", failure: failureOf(new GatewayError("upstream_timeout", "Silent.")) };
    expect(chatTranslation.streamWriter(clientOf()).write(event)).toBe(
      'data: {"error":{"message":"Silent.","type":"upstream_error","code":"upstream_timeout","param":null}}\n\n',
    );
    expect(messagesTranslation.streamWriter(clientOf()).write(event)).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Silent."},"request_id":"req_1"}\n\n',
    );
  });
});
