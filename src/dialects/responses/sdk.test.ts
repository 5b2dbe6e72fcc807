import { describe, expect, test } from "bun:test";
import OpenAI, { APIError } from "openai";
import { chatTranslation } from "../chat/index.ts";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { chatUpstream, clientOf } from "../../../test/kit/dialects/contexts.ts";
import { TranslatedStream } from "../translated-stream.ts";
import { responsesTranslation } from "./index.ts";

const tools = [{ type: "function" as const, name: "f", strict: true, parameters: { type: "object" } }];
const request = { model: "mistral/m", input: "hello", tools };
const client = clientOf(request);

/** The official client, which gets these bytes. */
const sdkFor = (body: string, type: string): OpenAI =>
  new OpenAI({
    apiKey: "sk-test",
    baseURL: "http://gateway.test/v1",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(body, { headers: { "content-type": type } })),
  });

const chunk = (delta: JsonObject, finish: string | null = null): string =>
  JSON.stringify({ id: "c", created: 5, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] });

function translate(stream: readonly string[], error?: GatewayError): string {
  const translated = new TranslatedStream({
    upstream: chatTranslation,
    upstreamContext: chatUpstream,
    client: responsesTranslation,
    clientContext: client,
    charged: (told) => told?.usage ?? {},
  });
  const shown = translated.see(Buffer.from(stream.map((data) => `data: ${data}\n\n`).join(""))).toString();
  return shown + (error === undefined ? translated.close().toString() : translated.fail(error));
}

const helper = (body: string) => sdkFor(body, "text/event-stream").responses.stream(request);

const call = (index: number, id: string, said: string): JsonObject => ({
  tool_calls: [{ index, id, type: "function", function: { name: "f", arguments: said } }],
});

const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } });

const answers: Record<string, { deltas: JsonObject[]; finish: string; message: JsonObject }> = {
  text: { deltas: [{ content: "Hel" }, { content: "lo" }], finish: "stop", message: { content: "Hello" } },
  "a thought and parallel calls": {
    deltas: [
      { reasoning_content: "h" },
      { reasoning_content: "m" },
      { content: "I look." },
      call(0, "call_a", '{"a":1}'),
      call(1, "call_b", "{}"),
    ],
    finish: "tool_calls",
    message: {
      reasoning_content: "hm",
      content: "I look.",
      tool_calls: [
        { id: "call_a", type: "function", function: { name: "f", arguments: '{"a":1}' } },
        { id: "call_b", type: "function", function: { name: "f", arguments: "{}" } },
      ],
    },
  },
  "a refusal": { deltas: [{ refusal: "No" }, { refusal: "." }], finish: "stop", message: { refusal: "No." } },
  "an answer cut off": { deltas: [{ content: "Once" }], finish: "length", message: { content: "Once" } },
  "a filtered answer": { deltas: [{ content: "" }], finish: "content_filter", message: { content: "" } },
};

describe("OpenAI's client", () => {
  test.each(Object.entries(answers))("gathers %s", async (_title, { deltas, finish, message }) => {
    const stream = [...deltas.map((delta) => chunk(delta)), chunk({}, finish), usage, "[DONE]"];
    const gathered = await helper(translate(stream)).finalResponse();
    const completion = {
      id: "c",
      created: 5,
      model: "m",
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
    };
    const whole = responsesTranslation.writeAnswer(chatTranslation.readAnswer(completion, chatUpstream), client);
    const parsed = await sdkFor(whole, "application/json").responses.parse(request);
    expect(gathered).toEqual(parsed as never);
    expect(gathered.usage?.total_tokens).toBe(13);
  });

  test("receives every piece as it arrives", async () => {
    const pieces: string[] = [];
    const said: string[] = [];
    const stream = [chunk({ content: "Hel" }), chunk({ content: "lo" }), chunk(call(0, "c", '{"a"'))];
    const rest = [
      chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
      chunk({}, "tool_calls"),
      "[DONE]",
    ];
    const runner = helper(translate([...stream, ...rest]));
    runner.on("response.output_text.delta", ({ delta, snapshot }) => pieces.push(`${delta}|${snapshot}`));
    runner.on("response.function_call_arguments.delta", ({ snapshot }) => said.push(snapshot));
    const { output_text, output } = await runner.finalResponse();
    expect(pieces).toEqual(["Hel|Hel", "lo|Hello"]);
    expect(said).toEqual(['{"a"', '{"a":1}']);
    expect(output_text).toBe("Hello");
    expect(output.map(({ id }) => id)).toEqual(["msg_abc123_0", "fc_abc123_1"]);
  });

  test("parses structured output", async () => {
    const format = { type: "json_schema" as const, name: "a", strict: true, schema: { type: "object" } };
    const completion = { id: "c", model: "m", choices: [{ message: { content: '{"a":1}' }, finish_reason: "stop" }] };
    const whole = responsesTranslation.writeAnswer(chatTranslation.readAnswer(completion, chatUpstream), client);
    const parsed = await sdkFor(whole, "application/json").responses.parse({ ...request, text: { format } });
    const value: unknown = parsed.output_parsed;
    expect(value).toEqual({ a: 1 });
    expect(parsed.incomplete_details).toBeNull();
  });

  test.each<[string, string[]]>([
    ["before anything was said", []],
    ["in the middle of an answer", [chunk({ content: "Hel" })]],
  ])("throws at an error %s", async (_title, stream) => {
    const body = translate(stream, new GatewayError("upstream_timeout", "Silent."));
    const thrown: unknown = await helper(body)
      .finalResponse()
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(APIError);
    expect(String(thrown)).toContain("Silent.");
    expect(body.includes("response.failed")).toBe(stream.length > 0);
  });

  test("throws at a stream that breaks off", async () => {
    const thrown = helper(translate([chunk({ content: "Hel" })])).finalResponse();
    expect(await thrown.catch((error: unknown) => error)).toBeInstanceOf(APIError);
  });
});
