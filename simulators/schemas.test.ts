import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "./index.ts";
import type { JsonObject } from "./shared/json.ts";
import { bodyOf, eventsOf, get, member, post, type Reply } from "./testing/client.ts";
import { type Ask, dialects } from "./testing/dialects.ts";
import { type SchemaCheck, schemaCheck, type SchemaOwner } from "./testing/schemas.ts";
import { type Speaker, speakers } from "./testing/speakers.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

/** A provider's own document, and its schemas of answers. */
interface Documented {
  readonly document: SchemaOwner;
  readonly provider: Speaker["provider"];
  readonly dialect: Speaker["dialect"];
  readonly whole: string;
  readonly event: string;
  readonly error: string | null;
  /** Another model than the scenarios take. */
  readonly model?: string;
  /** Known errors and omissions of the document. */
  readonly excused?: string;
}

const documented: readonly Documented[] = [
  {
    document: "openai",
    provider: "openai",
    dialect: "chat",
    whole: "CreateChatCompletionResponse",
    event: "CreateChatCompletionStreamResponse",
    error: "ErrorResponse",
  },
  {
    document: "openai",
    provider: "openai",
    dialect: "responses",
    whole: "Response",
    event: "ResponseStreamEvent",
    error: "ErrorResponse",
    // Until the last event the usage is null.
    excused: "/response/usage must be object",
  },
  {
    document: "anthropic",
    provider: "anthropic",
    dialect: "messages",
    whole: "Message",
    event: "MessageStreamEvent",
    error: "ErrorResponse",
  },
  {
    document: "mistral",
    provider: "mistral",
    dialect: "chat",
    whole: "ChatCompletionResponse",
    event: "CompletionChunk",
    error: null,
    // It asks for a member that belongs to lists.
    excused: "ChatCompletionResponse must have required property 'data'",
  },
  {
    document: "moonshot",
    provider: "openai-compatible",
    dialect: "chat",
    model: "kimi-k2.6",
    whole: "ChatCompletionResponse",
    event: "ChatCompletionChunk",
    error: "ErrorResponse",
  },
];

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [
  { name: "get_weather", parameters },
  { name: "get_time", parameters: { type: "object", properties: {} } },
];

/** Requests in each dialect; every kind of block, item and ending occurs. */
function asks({ thinking, takesStop, likely }: Speaker): Ask[] {
  return [
    { text: "hello" },
    { text: "parallel aloud", tools },
    { text: "think", tools, thinking },
    { text: "think", thinking },
    { text: "words:50", tokensMax: 16 },
    { text: "refuse:bio" },
    { text: "as json", schema: parameters },
    ...(likely === undefined ? [] : [{ text: "likely", thinking: likely }]),
    ...(takesStop ? [{ text: "one two", stop: "two" }] : []),
  ];
}

function speakerOf({ provider, dialect, model }: Documented): Speaker {
  const found = speakers.find((one) => one.provider === provider && one.dialect === dialect);
  if (found === undefined) throw new Error(`${provider} does not speak ${dialect}`);
  return { ...found, model: model ?? found.model };
}

function post2023(provider: Speaker["provider"], path: string, body: unknown): Promise<Reply> {
  return post(simulators.providers[provider] + path, body, { "anthropic-version": "2023-06-01" });
}

for (const entry of documented) {
  const { document, provider, dialect, whole, event, error, excused } = entry;
  const speaker = speakerOf(entry);

  describe(`${speaker.model} in ${dialect} fits its document`, () => {
    let problems: SchemaCheck;
    beforeAll(() => {
      const check = schemaCheck(document);
      problems = (schema, value) => check(schema, value).filter((problem) => !problem.includes(excused ?? "\n"));
    });

    function send(ask: Ask, more: JsonObject = {}, fault = ""): Promise<Reply> {
      const body = { ...dialects[dialect].request(speaker.model + fault, ask), ...more };
      return post2023(provider, speaker.path, body);
    }

    test("whole answers", async () => {
      for (const ask of asks(speaker)) expect(problems(whole, bodyOf(await send(ask))), ask.text).toEqual([]);
    });

    test("every event", async () => {
      for (const ask of asks(speaker)) {
        const events = eventsOf(await send(ask, speaker.streamed)).filter(({ data }) => data !== undefined);
        expect(events.length).toBeGreaterThan(2);
        for (const { data } of events) expect(problems(event, data), JSON.stringify(data)).toEqual([]);
      }
    });

    test.skipIf(error === null)("errors", async () => {
      for (const status of [400, 401, 403, 404, 429, 500, 503]) {
        const reply = await send({ text: "hi" }, {}, `+status-${status}`);
        expect(problems(error ?? "", bodyOf(reply)), reply.text).toEqual([]);
      }
    });
  });
}

describe("kept responses fit their document", () => {
  test("input items, the response looked up, an error event, and a failed response", async () => {
    const problems = schemaCheck("openai");
    const url = `${simulators.providers.openai}/responses`;
    const asked = { model: "gpt-5-mini", input: "call", tools: [{ type: "function", name: "f", parameters }] };
    const called = dialects.responses.read(bodyOf(await post(url, asked)));
    const results = [{ type: "function_call_output", call_id: called.calls[0]?.id, output: "done" }];
    const input = [{ role: "user", content: "call" }, ...called.said, ...results];
    const id = member(bodyOf(await post(url, { model: "gpt-5-mini", input })), "id");
    expect(problems("ResponseItemList", bodyOf(await get(`${url}/${String(id)}/input_items`)))).toEqual([]);
    expect(problems("Response", bodyOf(await get(`${url}/${String(id)}`)))).toEqual([]);
    const broken = await post(url, { model: "gpt-5-mini+error-2", input: "hi", stream: true });
    expect(problems("ResponseErrorEvent", eventsOf(broken).at(-1)?.data)).toEqual([]);
    const failed = await post(url, { model: "gpt-5-mini+failed+no-usage", input: "hi", stream: true });
    const [last] = eventsOf(failed).slice(-1);
    expect(last?.event).toBe("response.failed");
    expect(member(last?.data, "response")).toMatchObject({ status: "failed", error: { code: "server_error" } });
  });
});

test("counted tokens fit their document", async () => {
  const problems = schemaCheck("anthropic");
  const body = { model: "claude-haiku-4-5", messages: [{ role: "user", content: "hi" }] };
  const counted = await post2023("anthropic", "/v1/messages/count_tokens", body);
  expect(problems("CountMessageTokensResponse", bodyOf(counted))).toEqual([]);
});
