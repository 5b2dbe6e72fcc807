import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  collectAnswer,
  eventsOfAnswer,
  type StopReason,
} from "../conversation/index.ts";
import { clientOf, responsesUpstream } from "../../../test/kit/dialects/contexts.ts";
import { dataOfStream } from "../../../test/kit/dialects/fold-chat.ts";
import { foldResponses } from "../../../test/kit/dialects/fold-responses.ts";
import { ResponsesStreamWriter, responsesTranslation } from "./index.ts";

const answerOf = (blocks: AnswerBlock[], reason: StopReason = "end"): Answer => ({
  id: "x",
  model: "m",
  created: 5,
  choices: [{ blocks, stop: { reason } }],
  usage: undefined,
  serviceTier: undefined,
});

interface Response {
  status: string;
  incomplete_details: unknown;
  output: JsonObject[];
  usage: JsonObject;
}

/** The response for an answer, which must equal its stream's. */
function written(answer: Answer, request: JsonObject = {}): Response {
  const whole: unknown = JSON.parse(responsesTranslation.writeAnswer(answer, clientOf(request)));
  expect(foldResponses(streamed(answer, request))).toEqual(whole as Record<string, unknown>);
  return whole as Response;
}

function streamed(answer: Answer, request: JsonObject = {}): string {
  const writer = responsesTranslation.streamWriter(clientOf(request));
  return [...eventsOfAnswer(answer)].map((event) => writer.write(event)).join("");
}

const text = (said: string, more: JsonObject = {}): AnswerBlock => ({ kind: "text", text: said, ...more });
const signature = { origin: "google", value: "sig" };

describe("a response", () => {
  test.each<[StopReason, string, unknown]>([
    ["end", "completed", null],
    ["tool-calls", "completed", null],
    ["stop-sequence", "completed", null],
    ["pause", "incomplete", { reason: "max_output_tokens" }],
    ["length", "incomplete", { reason: "max_output_tokens" }],
    ["context-window", "incomplete", { reason: "max_output_tokens" }],
    ["refusal", "incomplete", { reason: "content_filter" }],
    ["content-filter", "incomplete", { reason: "content_filter" }],
  ])("that stopped for %s is %s", (reason, status, details) => {
    const response = written(answerOf([text("a"), text("b")], reason));
    expect(response).toMatchObject({ status, incomplete_details: details });
    expect(response.output).toMatchObject([{ id: "msg_abc123_0", status, content: [{ text: "a" }, { text: "b" }] }]);
  });

  test("repeats the request, with defaults for omitted fields", () => {
    const tools = [
      { type: "function", name: "f" },
      { type: "custom", name: "g" },
    ];
    expect(
      written(
        { ...answerOf([]), usage: { input: 7, output: 1 } },
        { tools, temperature: 0.5, instructions: "i", store: false, metadata: { a: "b" } },
      ),
    ).toEqual({
      id: "resp_abc123",
      object: "response",
      created_at: 5,
      model: "m",
      status: "completed",
      error: null,
      incomplete_details: null,
      service_tier: "default",
      output: [],
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 8,
      },
      background: false,
      instructions: "i",
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: { a: "b" },
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      store: false,
      temperature: 0.5,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: [{ type: "function", name: "f", parameters: null, strict: null }, tools[1]],
      top_logprobs: 0,
      top_p: null,
      truncation: "disabled",
    } as never);
  });

  test("counts cached tokens as part of the input, and reasoning as part of the output", () => {
    const usage = { input: 2, cacheRead: 8, cacheWrite1h: 4, output: 5, reasoning: 3 };
    expect(written({ ...answerOf([]), usage }).usage).toEqual({
      input_tokens: 14,
      input_tokens_details: { cached_tokens: 8, cache_write_tokens: 4 },
      output_tokens: 8,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 22,
    });
  });

  test("has thoughts as summaries with their origin", () => {
    const blocks: AnswerBlock[] = [
      { kind: "reasoning", text: "hm", signature },
      { kind: "reasoning", text: "", redacted: true, signature },
      { kind: "reasoning", text: "", summary: ["a", "b"] },
    ];
    expect(written(answerOf(blocks)).output).toEqual([
      {
        id: "rs_abc123_0",
        type: "reasoning",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "tollgate.google.thought.sig",
      },
      { id: "rs_abc123_1", type: "reasoning", summary: [], encrypted_content: "tollgate.google.cipher.sig" },
      {
        id: "rs_abc123_2",
        type: "reasoning",
        summary: [
          { type: "summary_text", text: "a" },
          { type: "summary_text", text: "b" },
        ],
      },
    ]);
  });

  test("has calls, of functions and of tools that take text, and their signatures before them", () => {
    const blocks: AnswerBlock[] = [
      { kind: "tool-call", callId: "c1", name: "f", arguments: "", signature },
      { kind: "tool-call", callId: "c2", name: "run", arguments: "ls", custom: true },
    ];
    expect(written(answerOf(blocks, "tool-calls")).output).toEqual([
      { id: "rs_abc123_0", type: "reasoning", summary: [], encrypted_content: "tollgate.google.call.sig" },
      { id: "fc_abc123_1", type: "function_call", call_id: "c1", name: "f", arguments: "{}", status: "completed" },
      { id: "ctc_abc123_2", type: "custom_tool_call", call_id: "c2", name: "run", input: "ls" },
    ]);
  });

  test("cites pages, and contains token probabilities", () => {
    const citations = [
      { kind: "url", url: "https://x.test", title: "X", start: 1, end: 2 },
      { kind: "url", url: "https://y.test" },
      { kind: "native", dialect: "messages", value: { type: "page_location" } },
    ];
    const logprobs = [
      { token: "a", logprob: -1, bytes: null, top_logprobs: [{ token: "b", logprob: -2, bytes: null }] },
    ];
    expect(written(answerOf([text("abc", { citations, logprobs })])).output).toMatchObject([
      {
        content: [
          {
            annotations: [
              { type: "url_citation", start_index: 1, end_index: 2, url: "https://x.test", title: "X" },
              { type: "url_citation", start_index: 0, end_index: 3, url: "https://y.test", title: "" },
            ],
            logprobs: [{ token: "a", logprob: -1, bytes: [], top_logprobs: [{ token: "b", logprob: -2, bytes: [] }] }],
          },
        ],
      },
    ]);
  });

  test("omits content that only another dialect can express", () => {
    const foreign: AnswerBlock = { kind: "native", dialect: "messages", value: { type: "server_tool_use" } };
    expect(written(answerOf([text("a"), foreign, text("b")])).output).toMatchObject([
      { content: [{ text: "a" }, { text: "b" }] },
    ]);
  });
});

test("an error ends a stream with the error, and the response as it failed", () => {
  const writer = new ResponsesStreamWriter(clientOf());
  const begun = [
    ...eventsOfAnswer(answerOf([text("a"), { kind: "tool-call", callId: "c", name: "f", arguments: "{}" }])),
  ];
  const shown = begun.slice(0, 6).map((event) => writer.write(event));
  const failure = { kind: "rate-limit", message: "Slow." } as const;
  const events = dataOfStream(shown.join("") + writer.write({ type: "error", failure }));
  expect(events.slice(-2)).toMatchObject([
    { type: "error", code: "rate_limit_error", message: "Slow.", param: null },
    {
      type: "response.failed",
      response: {
        status: "failed",
        error: { code: "rate_limit_exceeded", message: "Slow." },
        output: [{ content: [{ text: "a" }] }],
      },
    },
  ]);
});

const created = { type: "response.created", response: { id: "resp_1", model: "gpt", created_at: 7 } };
const message = { id: "msg_1", type: "message", role: "assistant" };
const added = (output_index: number, item: JsonObject) => ({ type: "response.output_item.added", output_index, item });
const done = (output_index: number, item: JsonObject) => ({ type: "response.output_item.done", output_index, item });
const completed = (output: JsonObject[] = [], more: JsonObject = {}) => ({
  type: "response.completed",
  response: { status: "completed", output, ...more },
});

function read(...events: JsonObject[]): AnswerEvent[] {
  const reader = responsesTranslation.streamReader(responsesUpstream);
  return [...events.flatMap((event) => [...reader.read(JSON.stringify(event))]), ...reader.close()];
}

const blocksOf = (...events: JsonObject[]) => collectAnswer(read(created, ...events)).choices[0]?.blocks;

describe("events of an upstream", () => {
  const said = { type: "output_text", text: "hello", annotations: [] };
  const whole = { ...message, content: [said] };
  const hello = [{ kind: "text", id: "msg_1", text: "hello" }];

  test.each<[string, JsonObject[]]>([
    ["only at its end", [completed([whole])]],
    ["as a whole item", [done(0, whole), completed([whole])]],
    [
      "as a whole part",
      [
        added(0, message),
        { type: "response.content_part.done", output_index: 0, content_index: 0, part: said },
        completed(),
      ],
    ],
    [
      "in pieces without an announcement of the part",
      [
        added(0, message),
        { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "hel" },
        { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "lo" },
        { type: "response.output_text.done", output_index: 0, content_index: 0, text: "hello" },
        done(0, whole),
        completed([whole]),
      ],
    ],
  ])("that contain a text %s", (_how, events) => {
    expect(blocksOf(...events)).toEqual(hello as never);
  });

  test.each([0, 1, 7])("that count its parts from %i say each once", (first) => {
    const piece = (number: number, delta: string) => ({
      type: "response.output_text.delta",
      output_index: 0,
      content_index: first + number,
      delta,
    });
    const both = { ...message, content: [said, { ...said, text: "again" }] };
    const parts = [piece(0, "hel"), piece(0, "lo"), piece(1, "again")];
    const texts = [...hello, { kind: "text", id: "msg_1", text: "again" }];
    expect(blocksOf(added(0, message), ...parts, done(0, both), completed([both]))).toEqual(texts as never);
    expect(blocksOf(added(0, message), ...parts, completed([both]))).toEqual(texts as never);
  });

  test("that number items unlike the list, or give them other ids there, say each once", () => {
    const thought = { type: "reasoning", id: "rs", summary: [] };
    const call = { type: "function_call", id: "fc", call_id: "c", name: "f", arguments: "{}" };
    const items = [done(1, thought), done(2, whole), done(4, call)];
    const list = [
      { ...whole, id: "msg_other" },
      { ...call, id: "fc_other" },
    ];
    const blocks = blocksOf(...items, completed(list));
    expect(blocks?.map(({ kind }) => kind)).toEqual(["reasoning", "text", "tool-call"]);
    const more = blocksOf(...items, completed([...list, { ...whole, id: "msg_2" }]));
    expect(more?.map(({ kind }) => kind)).toEqual(["reasoning", "text", "tool-call", "text"]);
  });

  test("that contain arguments only at the end equal those in pieces", () => {
    const call = { type: "function_call", id: "fc", call_id: "c", name: "f", arguments: "" };
    const [block] = blocksOf(added(0, call), done(0, { ...call, arguments: '{"a":1}' }), completed()) ?? [];
    expect(block).toMatchObject({ kind: "tool-call", id: "fc", callId: "c", name: "f", arguments: '{"a":1}' });
  });

  test("of thoughts in summaries and in cipher", () => {
    const item = { type: "reasoning", id: "", summary: [] };
    const piece = (summary_index: number, delta: string) => ({
      type: "response.reasoning_summary_text.delta",
      output_index: 0,
      summary_index,
      delta,
    });
    const events = [added(0, item), piece(4, "a"), piece(4, "b"), piece(9, "c")];
    expect(blocksOf(...events, done(0, { ...item, encrypted_content: "zzz" }), completed())).toEqual([
      { kind: "reasoning", text: "", summary: ["ab", "c"], signature: { origin: "openai", value: "zzz" } },
    ]);
  });

  test.each(["__proto__", "constructor", "toString"])("of the type %s are kept too", (type) => {
    const writer = responsesTranslation.streamWriter(clientOf({}));
    writer.write({ type: "start", id: "", model: "m", created: undefined });
    const block = { kind: "native", dialect: "responses", value: { type, status: "in_progress" } } as const;
    expect(writer.write({ type: "block-start", choice: 0, index: 0, block })).toContain(JSON.stringify(type));
  });

  test("of tools that it runs are kept whole", () => {
    const search = { type: "web_search_call", id: "ws", status: "completed" };
    expect(blocksOf(added(0, { ...search, status: "in_progress" }), done(0, search), completed())).toEqual([
      { kind: "native", dialect: "responses", value: search },
    ]);
  });

  test.each<[JsonObject, StopReason]>([
    [{}, "end"],
    [{ output: [{ type: "function_call", call_id: "c", name: "f", arguments: "{}" }] }, "tool-calls"],
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "length"],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, "content-filter"],
    [{ status: "incomplete", incomplete_details: { reason: "a word of tomorrow" } }, "length"],
  ])("that end with %j stop for %s", (response, reason) => {
    expect(collectAnswer(read(created, completed([], response))).choices[0]?.stop.reason).toBe(reason);
  });

  test.each<[string, JsonObject, JsonObject]>([
    [
      "a flat error",
      { type: "error", code: "rate_limit_exceeded", message: "Slow." },
      { kind: "rate-limit", message: "Slow." },
    ],
    [
      "a wrapped one",
      { type: "error", error: { type: "server_error", message: "m" } },
      { kind: "server", message: "m" },
    ],
    [
      "a response that failed",
      { type: "response.failed", response: { error: { code: "server_error", message: "m" } } },
      { kind: "server", code: "server_error", message: "m" },
    ],
    ["one that failed in silence", { type: "response.failed" }, { message: "The upstream failed to answer." }],
    ["one that was cancelled", { type: "response.cancelled" }, { message: "The upstream did not finish its answer." }],
  ])("that end with %s are an error", (_title, event, failure) => {
    expect(read(created, event).map(({ type }) => type)).toEqual(["start", "error"]);
    expect(read(created, event).at(-1)).toMatchObject({ failure });
    expect(read(event).at(-1)).toMatchObject({ type: "error", failure });
  });
});

test.each<[string, JsonObject]>([
  ["without output", { status: "completed" }],
  ["that failed", { status: "failed", output: [], error: { code: "server_error", message: "m" } }],
  ["that is still on its way", { status: "queued", output: [] }],
])("an answer %s is invalid", (_title, answer) => {
  expect(() => responsesTranslation.readAnswer(answer, responsesUpstream)).toThrow(GatewayError);
});
