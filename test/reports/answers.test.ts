/** Public reports about other gateways: answers of upstreams, and their clients. Each is named in its title. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatPath, messagesPath, responsesPath } from "../kit/index.ts";
import {
  blocksOf,
  chatAnswer,
  chatStream,
  type JsonBody,
  messagesAnswer,
  messagesStream,
  responsesAnswer,
  responsesStream,
  type Scene,
  startScene,
} from "./scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.stop());

const hello = { role: "user", content: "hi" };
const object = { type: "object", properties: {} };
const tools = [
  { name: "add", input_schema: object },
  { name: "b", input_schema: object },
];
const asked = (model: string, members: JsonBody = {}): JsonBody => ({
  model,
  max_tokens: 200,
  messages: [hello],
  ...members,
});
const call = (index: number | undefined, id: string | undefined, name: string | undefined, args: string): JsonBody => ({
  tool_calls: [
    {
      ...(index === undefined ? {} : { index }),
      ...(id === undefined ? {} : { id, type: "function" }),
      function: { ...(name === undefined ? {} : { name }), arguments: args },
    },
  ],
});
const ofType = (events: readonly JsonBody[], type: string): JsonBody =>
  events.find((event) => event["type"] === type) ?? {};

test("BerriAI/litellm 25561, 25836: Google's whole call in one chunk without an index keeps its arguments", async () => {
  const answer = chatStream([{ role: "assistant", ...call(undefined, "f-1", "add", '{"a":17}') }], "tool_calls");
  const { events } = await scene.ask(messagesPath, asked("google/m", { stream: true, tools }), answer);
  expect(blocksOf(events)).toMatchObject([{ type: "tool_use", name: "add", json: '{"a":17}' }]);
});

test("litellm 31069: the counts of the cache are in a stream of Messages", async () => {
  const counted = {
    prompt_tokens: 1_000,
    completion_tokens: 5,
    total_tokens: 1_005,
    prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 100 },
  };
  const answer = chatStream([{ role: "assistant", content: "hi" }], "stop", counted);
  const { events } = await scene.ask(messagesPath, asked("openrouter/m", { stream: true }), answer);
  expect(ofType(events, "message_delta")["usage"]).toMatchObject({
    input_tokens: 100,
    cache_read_input_tokens: 800,
    cache_creation_input_tokens: 100,
    output_tokens: 5,
  });
});

test("QuantumNous/new-api 6394: the parts of parallel calls that alternate", async () => {
  const deltas = [
    call(0, "a", "add", ""),
    call(1, "b", "b", ""),
    call(0, undefined, undefined, '{"a"'),
    call(1, undefined, undefined, '{"x":'),
    call(0, undefined, undefined, ":1}"),
    call(1, undefined, undefined, "2}"),
  ];
  const body = asked("generic/m", { stream: true, tools });
  const { events } = await scene.ask(messagesPath, body, chatStream(deltas, "tool_calls"));
  expect(blocksOf(events)).toMatchObject([
    { name: "add", json: '{"a":1}' },
    { name: "b", json: '{"x":2}' },
  ]);
  const starts = events.flatMap(({ type, index }) => (type === "content_block_start" ? [index] : []));
  expect(starts).toEqual([0, 1]);
});

describe("ccNexus 89: several calls that all have the index 0", () => {
  const deltas = [call(0, "a", "add", '{"a":1}'), call(0, "b", "b", '{"x":2}')];

  test("in Messages", async () => {
    const body = asked("generic/m", { stream: true, tools });
    const { events } = await scene.ask(messagesPath, body, chatStream(deltas, "tool_calls"));
    expect(blocksOf(events)).toMatchObject([
      { id: "a", json: '{"a":1}' },
      { id: "b", json: '{"x":2}' },
    ]);
  });

  test("in Responses", async () => {
    const functions = tools.map(({ name }) => ({ type: "function", name, parameters: object }));
    const body = { model: "generic/m", input: "hi", stream: true, tools: functions };
    const { events } = await scene.ask(responsesPath, body, chatStream(deltas, "tool_calls"));
    expect(ofType(events, "response.completed")).toMatchObject({
      response: {
        output: [
          { type: "function_call", call_id: "a", name: "add", arguments: '{"a":1}' },
          { type: "function_call", call_id: "b", name: "b", arguments: '{"x":2}' },
        ],
      },
    });
  });
});

describe("maximhq/bifrost 5354: reads of the cache, counted in the last event alone", () => {
  const answer = () =>
    messagesStream(
      "I'm happy",
      { input_tokens: 1_000, output_tokens: 0 },
      { input_tokens: 100, cache_read_input_tokens: 900, cache_creation_input_tokens: 0, output_tokens: 5 },
    );

  test.each<[string, JsonBody, (events: readonly JsonBody[]) => unknown, JsonBody]>([
    [
      messagesPath,
      asked("messages/m", { stream: true }),
      (events) => ofType(events, "message_delta")["usage"],
      { input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 5 },
    ],
    [
      chatPath,
      { model: "messages/m", messages: [hello], stream: true, stream_options: { include_usage: true } },
      (events) => events.at(-1)?.["usage"],
      { prompt_tokens: 1_000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 900 } },
    ],
    [
      responsesPath,
      { model: "messages/m", input: "hi", stream: true },
      (events) => (ofType(events, "response.completed")["response"] as JsonBody)["usage"],
      { input_tokens: 1_000, output_tokens: 5, input_tokens_details: { cached_tokens: 900 } },
    ],
  ])("is counted once in %s", async (path, body, usageIn, told) => {
    const answered = await scene.ask(path, body, answer());
    expect(usageIn(answered.events)).toMatchObject(told);
    expect((await scene.generation(answered)).usage).toMatchObject({ input: 100, cache_read: 900, output: 5 });
    // litellm 20097: the first characters of a stream from Claude were lost in Responses.
    expect(answered.text).toContain("I'm happy");
  });
});

describe("bifrost 5510, rust-genai 258: counts of input that contain the cache", () => {
  test("Kimi, whole", async () => {
    const counted = { input_tokens: 1_733, cache_read_input_tokens: 1_730, output_tokens: 10 };
    const answered = await scene.ask(messagesPath, asked("kimi/k3"), messagesAnswer({ usage: counted }));
    expect((await scene.generation(answered)).usage).toMatchObject({ input: 3, cache_read: 1_730, output: 10 });
  });

  test("DashScope, streamed, with the cache in the last event", async () => {
    const ended = { cache_creation_input_tokens: 0, cache_read_input_tokens: 3_604, output_tokens: 878 };
    const answer = messagesStream("x", { input_tokens: 3_610, output_tokens: 0 }, ended);
    const answered = await scene.ask(messagesPath, asked("kimi/m", { stream: true, max_tokens: 1_000 }), answer);
    expect((await scene.generation(answered)).usage).toMatchObject({ input: 6, cache_read: 3_604, output: 878 });
  });
});

test("agent-framework 6978: Mistral's list of parts is a text for clients of chat", async () => {
  const content = [
    { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
    { type: "text", text: "ok" },
  ];
  const body = { model: "mistral/magistral-medium-latest", messages: [hello] };
  const answered = await scene.ask(chatPath, body, chatAnswer({ content }));
  expect(answered.body).toMatchObject({ choices: [{ message: { content: "ok", reasoning_content: "Hm." } }] });
});

test("a text whose part has the index 1 (Bedrock, vLLM) comes once", async () => {
  const body = { model: "openai-responses/m", stream: true, messages: [hello] };
  const { events } = await scene.ask(chatPath, body, responsesStream("Hello", 1));
  const texts = events.map(({ choices }) => (choices as { delta?: { content?: string } }[])[0]?.delta?.content ?? "");
  expect(texts.join("")).toBe("Hello");
});

describe("arguments of calls", () => {
  test("cut by the limit, streamed", async () => {
    const answer = chatStream([call(0, "a", "add", '{"a":"unfini')], "length");
    const { events } = await scene.ask(messagesPath, asked("generic/m", { stream: true, tools }), answer);
    expect(blocksOf(events)).toMatchObject([{ name: "add", json: '{"a":"unfini' }]);
    expect(ofType(events, "message_delta")).toMatchObject({ delta: { stop_reason: "max_tokens" } });
    expect(events.at(-1)?.["type"]).toBe("message_stop");
  });

  test.each<[string, unknown, string, JsonBody]>([
    ["cut by the limit", '{"a":"unfini', "length", {}],
    ["empty", "", "tool_calls", {}],
    ["an object, as Ollama and others send them", { a: 1 }, "tool_calls", { a: 1 }],
  ])("%s, whole", async (_title, args, finish, input) => {
    const calls = [{ id: "a", type: "function", function: { name: "add", arguments: args } }];
    const answer = chatAnswer({ content: null, tool_calls: calls }, finish);
    const { status, body } = await scene.ask(messagesPath, asked("generic/m", { tools }), answer);
    expect(status).toBe(200);
    expect(body).toMatchObject({ content: [{ type: "tool_use", id: "a", name: "add", input }] });
  });
});

describe("an upstream that counts nothing", () => {
  test("the answer has the charged usage, in chat", async () => {
    const counted = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    const body = { model: "openai-responses/m", messages: [hello] };
    const answered = await scene.ask(chatPath, body, responsesAnswer("ok ok ok", counted));
    const { usage } = await scene.generation(answered);
    expect(usage["input"]).toBeGreaterThan(0);
    expect(answered.body).toMatchObject({
      usage: { prompt_tokens: usage["input"], completion_tokens: usage["output"] },
    });
  });

  test("the same in Messages, of which it counts one half", async () => {
    const counted = { prompt_tokens: 0, completion_tokens: 180, total_tokens: 180 };
    const answered = await scene.ask(
      messagesPath,
      asked("openrouter/m", { max_tokens: 300 }),
      chatAnswer({ content: "ok" }, "stop", counted),
    );
    const { usage } = await scene.generation(answered);
    expect(usage["input"]).toBeGreaterThan(0);
    expect(answered.body).toMatchObject({ usage: { input_tokens: usage["input"], output_tokens: usage["output"] } });
  });
});
