import { describe, expect, test } from "bun:test";
import { parseBody } from "../bodies/index.ts";
import { type Dialect, GatewayError, type JsonObject, limits, type ModelOperation, type Usage } from "../core/index.ts";
import {
  chatCodec,
  chatRequest,
  geminiCodec,
  geminiRequest,
  messagesCodec,
  messagesRequest,
  responsesCodec,
  responsesRequest,
} from "../dialects/index.ts";
import { targetOf, textOf } from "../sending/__fixtures__/upstreams.ts";
import { openTextExchange } from "./exchange-text.ts";
import type { Exchange } from "./exchange.ts";

const orders: Readonly<Record<Dialect, readonly [ModelOperation, ...ModelOperation[]]>> = {
  chat: ["chat", "messages"],
  messages: ["messages", "chat"],
  responses: ["responses", "chat", "messages"],
  gemini: ["gemini", "messages", "chat", "responses"],
};

/** The exchange of a client's body; `route` determines the client's dialect. */
function open(dialect: Dialect, written: string | JsonObject, request?: JsonObject): Exchange {
  const text = typeof written === "string" ? written : JSON.stringify(written);
  const operations = orders[dialect];
  const rest = { requestId: "req_abc", at: 5_000, request };
  const bytes = Buffer.from(text);
  switch (dialect) {
    case "chat": {
      const parsed = parseBody(bytes, chatRequest, chatCodec.measured);
      return openTextExchange({ ...rest, parsed, target: targetOf(parsed.body.model, operations) }, chatCodec);
    }
    case "messages": {
      const parsed = parseBody(bytes, messagesRequest, messagesCodec.measured);
      return openTextExchange({ ...rest, parsed, target: targetOf(parsed.body.model, operations) }, messagesCodec);
    }
    case "gemini": {
      const parsed = parseBody(bytes, geminiRequest, geminiCodec.measured);
      return openTextExchange({ ...rest, parsed, target: targetOf(parsed.body.model, operations) }, geminiCodec);
    }
    case "responses": {
      const parsed = parseBody(bytes, responsesRequest, responsesCodec.measured);
      return openTextExchange({ ...rest, parsed, target: targetOf(parsed.body.model, operations) }, responsesCodec);
    }
  }
}

/** A call that may be streamed. */
function observed(exchange: Exchange) {
  if (exchange.observe === undefined) throw new Error("there can be no stream");
  return exchange.observe((told) => told?.usage ?? {});
}

/** The bodies by their exchanges, which create them once. */
const bodies = new WeakMap<Exchange, string>();

function bodyOf(exchange: Exchange): string {
  const body = bodies.get(exchange) ?? textOf(exchange.requests()[0].body);
  bodies.set(exchange, body);
  return body;
}
const parsedBody = (exchange: Exchange): JsonObject => JSON.parse(bodyOf(exchange)) as JsonObject;

function refusalOf(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error("no refusal");
}

/** Unusual on purpose: spaces, escapes, numbers that a parser would change, unknown members. */
const odd = (members: string): string =>
  `{ "later" : 1.0e2,"model":"MODEL" ,  ${members}, "n\\u0065w":[12345678901234567890,"\\u00e9é🙂"]}\n`;
const oddMessages = odd(
  `"max_tokens":5,"messages":[ {"role":"user","content":[{"type":"of_tomorrow","x":"é"}]}],"stream":false`,
);
const oddResponses = odd(`"input":[{"type":"of_tomorrow","x":1.10}],"thinking":{"type":"auto"}`);

describe("with the same dialect on both sides", () => {
  test.each<[Dialect, string, string, string]>([
    ["messages", oddMessages, "anthropic/claude-x", "claude-x"],
    ["responses", oddResponses, "openai/gpt-x", "gpt-x"],
    ["responses", oddResponses, "byteplus/seed-x", "seed-x"],
    ["responses", oddResponses, "xai/grok-x", "grok-x"],
  ])("%s pass unchanged, except for the model's prefix (%#)", (dialect, body, modelId, model) => {
    const exchange = open(dialect, body.replace("MODEL", modelId));
    expect(bodyOf(exchange)).toBe(body.replace("MODEL", model));
    expect([exchange.passesThrough, exchange.headers]).toEqual([true, undefined]);
  });

  test("answers and failures pass unchanged", () => {
    const exchange = open("messages", oddMessages.replace("MODEL", "anthropic/claude-x"));
    const bytes = Buffer.from(' {"type":"message","é":1.0}\n');
    const answer = { bytes, text: bytes.toString(), answer: {}, usage: undefined, failed: false };
    expect(exchange.answer([answer], {})).toEqual({ body: bytes, whole: bytes.toString() });
    expect(exchange.failure(529, "<html>busy")).toBe("<html>busy");
    const { events } = observed(exchange);
    expect(events?.errorEvent(new GatewayError("upstream_interrupted", "It broke off."))).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"It broke off."},"request_id":"req_abc"}\n\n',
    );
  });

  test("an event of Responses, which may repeat a long answer, is read in one piece; others pass as they arrive", () => {
    const responses = open("responses", { model: "openai/m", input: "hi", stream: true });
    expect(observed(responses).events?.bytesMax).toBe(limits.wholeEventBytesMax);
    const messages = open("messages", oddMessages.replace("MODEL", "anthropic/claude-x"));
    expect(observed(messages).events?.bytesMax).toBe(limits.eventBytesMax);
  });
});

describe("a signature of another upstream, stored by the client", () => {
  const thought = { type: "thinking", thinking: "hm", signature: "tollgate.deepseek.thought.c2lnbmVk" };
  const messages = (model: string): JsonObject => ({
    model,
    max_tokens: 50,
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: [thought, { type: "text", text: "Hello." }] },
      { role: "user", content: "and now?" },
    ],
  });

  test("never reaches a native upstream of Messages", () => {
    const exchange = open("messages", messages("anthropic/claude-haiku-4-5"));
    expect([exchange.passesThrough, exchange.headers]).toEqual([false, { "content-type": "application/json" }]);
    expect(bodyOf(exchange)).not.toContain("tollgate.");
    expect(bodyOf(exchange)).not.toContain("c2lnbmVk");
    expect(parsedBody(exchange)).toMatchObject({
      model: "claude-haiku-4-5",
      max_tokens: 50,
      messages: [
        { role: "user" },
        { role: "assistant", content: [{ type: "text", text: "Hello." }] },
        { role: "user" },
      ],
    });
  });

  test("nor one of Responses", () => {
    const input = [
      { role: "user", content: "hi" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "tollgate.xai.thought.c2lnbmVk" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "and now?" },
    ];
    const exchange = open("responses", { model: "openai/gpt-5-mini", input });
    expect(exchange.passesThrough).toBe(false);
    expect(bodyOf(exchange)).not.toContain("c2lnbmVk");
    expect(bodyOf(exchange)).toContain("and now?");
  });

  test("returns to its origin", () => {
    const input = [
      { role: "user", content: "hi" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "tollgate.xai.thought.c2lnbmVk" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "and now?" },
    ];
    const exchange = open("responses", { model: "xai/grok-4", input });
    expect(exchange.passesThrough).toBe(false);
    expect(bodyOf(exchange)).toContain('"encrypted_content":"c2lnbmVk"');
  });

  test.each(["tollgate.xai.thought.", `tollgate.${"x".repeat(100)}.cipher.`, "tollgate.xai.call."])(
    "is found where it is long: %s",
    (sealed) => {
      const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: sealed + "c2ln".repeat(500) };
      const input = [{ role: "user", content: "hi" }, reasoning, { role: "user", content: "and now?" }];
      const exchange = open("responses", { model: "openai/gpt-5-mini", input });
      expect(exchange.passesThrough).toBe(false);
      expect(bodyOf(exchange)).not.toContain("c2ln");
    },
  );

  test("is not detected in ordinary text", () => {
    for (const said of ["We came to the tollgate.", "tollgate.example.com", 'He wrote "tollgate.x.thought.y".']) {
      const one = { max_tokens: 5, messages: [{ role: "user", content: said }] };
      expect(open("messages", { model: "anthropic/claude-x", ...one }).passesThrough).toBe(true);
      expect(open("chat", { model: "openai/m", ...one }).passesThrough).toBe(true);
      expect(open("responses", { model: "openai/m", input: said }).passesThrough).toBe(true);
    }
  });
});

describe("with different dialects", () => {
  const messages: JsonObject = {
    model: "deepseek/deepseek-chat",
    max_tokens: 50,
    messages: [{ role: "user", content: "hi" }],
  };

  test("the body is translated, and then edited for its upstream", () => {
    const streamed = parsedBody(open("messages", { ...messages, stream: true }));
    expect(streamed).toMatchObject({ model: "deepseek-chat", stream: true, stream_options: { include_usage: true } });
    // Each has its own name for the limit of the output.
    expect(streamed).toMatchObject({ max_tokens: 50 });
    expect(streamed).not.toHaveProperty("max_completion_tokens");
    const openai = parsedBody(open("messages", { ...messages, model: "openai/gpt-5-mini" }));
    expect(openai).toMatchObject({ max_completion_tokens: 50 });
    expect(openai).not.toHaveProperty("stream_options");
    const mistral = parsedBody(open("messages", { ...messages, model: "mistral/m", stream: true }));
    expect(mistral).not.toHaveProperty("stream_options");
  });

  const chatAnswer: JsonObject = {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 7,
    model: "deepseek-chat-0815",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello." } }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
  const usage: Usage = { input: 3, output: 2 };
  const answerOf = (exchange: Exchange, answer = chatAnswer): JsonObject => {
    const text = JSON.stringify(answer);
    const whole = { bytes: Buffer.from(text), text, answer, usage: undefined, failed: false };
    return JSON.parse(exchange.answer([whole], usage).whole) as JsonObject;
  };

  test("answers are translated to the client's dialect", () => {
    expect(answerOf(open("messages", messages))).toMatchObject({
      id: "msg_abc",
      type: "message",
      content: [{ type: "text", text: "Hello." }],
      stop_reason: "end_turn",
      usage: { input_tokens: 3, output_tokens: 2 },
    });
    expect(answerOf(open("responses", { model: "mistral/m", input: "hi" }))).toMatchObject({
      id: "resp_abc",
      object: "response",
      status: "completed",
      output: [{ type: "message", content: [{ type: "output_text", text: "Hello." }] }],
    });
  });

  test("an answer repeats the client's fields, not the translated ones", () => {
    const own = {
      model: "mistral/m",
      input: "again",
      previous_response_id: "resp_0",
      metadata: { a: "b" },
    };
    const made = { model: "mistral/m", input: [{ role: "user", content: "before" }] };
    expect(answerOf(open("responses", made, own))).toMatchObject({
      previous_response_id: "resp_0",
      metadata: { a: "b" },
    });
  });

  test("an invalid answer is the upstream's fault", () => {
    const refusal = refusalOf(() => answerOf(open("messages", messages), { object: "list" }));
    expect(refusal).toMatchObject({ code: "upstream_invalid_answer", status: 502 });
  });

  test("failures are translated to the client's dialect, also those that are not JSON", () => {
    const exchange = open("messages", messages);
    const said = '{"error":{"message":"Too many.","type":"requests","code":"rate_limit_exceeded"}}';
    expect(JSON.parse(exchange.failure(429, said))).toEqual({
      type: "error",
      error: { type: "rate_limit_error", message: "Too many." },
      request_id: "req_abc",
    });
    expect(JSON.parse(exchange.failure(502, "<html>"))).toMatchObject({ error: { type: "api_error" } });
  });

  test("a broken stream is reported in the client's dialect, once", () => {
    const { observer, events } = observed(open("messages", { ...messages, stream: true }));
    const shown = observer.see(Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n')).toString();
    expect(shown).toContain("event: message_start");
    expect(events?.errorEvent(new GatewayError("upstream_interrupted", "It broke off."))).toStartWith("event: error\n");
    expect(events?.errorEvent(new GatewayError("upstream_interrupted", "It broke off."))).toBe("");
    expect([observer.failed, observer.complete]).toEqual([true, false]);
  });

  test.each<[Dialect, JsonObject, string]>([
    [
      "messages",
      { ...messages, messages: [{ role: "user", content: [{ type: "of_tomorrow" }] }] },
      "messages.0.content.0",
    ],
    ["messages", { ...messages, messages: [{ role: "robot", content: "hi" }] }, "messages.0.role"],
    ["responses", { model: "mistral/m", input: [{ type: "of_tomorrow" }] }, "input.0.type"],
    ["responses", { model: "mistral/m", input: [] }, "input"],
  ])("a field that cannot be expressed is refused by name: %s (%#)", (dialect, body, field) => {
    const refusal = refusalOf(() => open(dialect, body));
    expect([refusal.code, refusal.status]).toEqual(["validation_failed", 422]);
    expect(refusal.param).toStartWith(field);
  });
});

test("the text of a whole answer is measured in the upstream's dialect, whichever the client has", () => {
  const chat = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "twelve bytes" } }] });
  const messages = { max_tokens: 5, messages: [{ role: "user", content: "hi" }] };
  expect(open("messages", { model: "deepseek/m", ...messages }).outputBytes(chat)).toBe(12);
  expect(open("responses", { model: "mistral/m", input: "hi" }).outputBytes(chat)).toBe(12);
  expect(open("chat", { model: "deepseek/m", messages: messages.messages }).outputBytes(chat)).toBe(12);
});

describe("a limit of the output", () => {
  const chat = (model: string, more: JsonObject = {}): JsonObject => ({
    model,
    messages: [{ role: "user", content: "hi" }],
    ...more,
  });
  const responses = (model: string, more: JsonObject = {}): JsonObject => ({ model, input: "hi", ...more });
  const messages = (model: string): JsonObject => ({
    model,
    max_tokens: 5_000,
    messages: [{ role: "user", content: "hi" }],
  });

  test.each<[Dialect, JsonObject, JsonObject]>([
    ["chat", chat("openai/gpt-5"), { max_completion_tokens: 300 }],
    ["chat", chat("openai/gpt-5", { max_tokens: 9_000 }), { max_completion_tokens: 300 }],
    ["chat", chat("openai/gpt-5", { max_completion_tokens: 9_000 }), { max_completion_tokens: 300 }],
    ["chat", chat("deepseek/deepseek-chat", { max_completion_tokens: 9_000 }), { max_tokens: 300 }],
    ["chat", chat("deepseek/deepseek-chat", { max_tokens: 9_000, max_completion_tokens: 1 }), { max_tokens: 300 }],
    ["chat", chat("byteplus/seed-1-8-251228", { max_tokens: 9_000 }), { max_completion_tokens: 300 }],
    ["chat", chat("anthropic/claude-haiku-4-5"), { max_completion_tokens: 300 }],
    ["responses", responses("openai/gpt-5", { max_output_tokens: 9_000 }), { max_output_tokens: 300 }],
    ["responses", responses("google/gemini-2.5-pro"), { max_completion_tokens: 300 }],
    ["messages", messages("anthropic/claude-haiku-4-5"), { max_tokens: 300 }],
    ["messages", messages("xai/grok-4"), { max_completion_tokens: 300 }],
  ])("replaces that of %s %j, by the name that the upstream knows", (dialect, body, limit) => {
    const sent = JSON.parse(textOf(open(dialect, body).requests(300)[0].body)) as JsonObject;
    const names = new Set(["max_tokens", "max_completion_tokens", "max_output_tokens"]);
    expect(Object.fromEntries(Object.entries(sent).filter(([name]) => names.has(name)))).toEqual(limit);
  });

  test.each<[Dialect, JsonObject, boolean]>([
    ["chat", chat("openai/gpt-5"), true],
    ["chat", chat("openai/gpt-4o-mini"), false],
    ["chat", chat("openai/ft:gpt-4o-mini:acme::1"), false],
    ["responses", responses("openai/o3-mini"), true],
    ["responses", responses("openai/gpt-4.1"), false],
    ["chat", chat("xai/grok-4"), true],
    ["chat", chat("xai/grok-4-fast-non-reasoning"), false],
    ["chat", chat("google/gemini-2.5-pro"), true],
    ["chat", chat("google/gemini-2.0-flash"), false],
    ["chat", chat("deepseek/deepseek-chat"), false],
    ["messages", messages("anthropic/claude-opus-4-6"), false],
    ["messages", { ...messages("anthropic/claude-opus-4-6"), thinking: { type: "adaptive" } }, true],
    ["messages", { ...messages("anthropic/claude-opus-5"), thinking: { type: "disabled" } }, false],
    ["messages", messages("anthropic/claude-opus-5"), true],
    ["chat", chat("anthropic/claude-opus-4-6"), false],
    ["chat", chat("anthropic/claude-opus-4-6", { thinking: { type: "adaptive" } }), true],
  ])("%s %j: thought may be hidden: %p", (dialect, body, hidesThought) => {
    expect(open(dialect, body).output).toEqual({ hidesThought, isAnswerOnly: false });
  });

  test.each<[JsonObject, boolean]>([
    [{}, false],
    [{ max_tokens: 100 }, true],
    [{ max_tokens: 100, max_completion_tokens: 100 }, false],
    [{ max_tokens: 100, thinking: { type: "disabled" } }, false],
    [{ max_tokens: 100, thinking: { type: "auto" } }, true],
  ])("of BytePlus, %j, leaves thought unlimited: %p", (more, isAnswerOnly) => {
    expect(open("chat", chat("byteplus/seed-1-8-251228", more)).output).toEqual({ hidesThought: false, isAnswerOnly });
  });
});
