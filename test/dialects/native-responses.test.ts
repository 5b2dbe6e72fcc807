/** Providers' Responses, read by the dialect and watched by its observer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { objectOf, type JsonObject, type ObservedUsage } from "../../src/core/index.ts";
import {
  type ClientContext,
  responsesCodec,
  responsesRequest,
  translateStream,
  translations,
  type UpstreamContext,
} from "../../src/dialects/index.ts";

type DialectTranslation = (typeof translations)["chat"];

let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const speakers = [
  { provider: "openai", model: "gpt-5-mini" },
  { provider: "xai", model: "grok-4.3" },
  { provider: "byteplus", model: "seed-1-6-250915" },
] as const;

type Speaker = (typeof speakers)[number];

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [
  { type: "function", name: "get_weather", strict: false, parameters },
  { type: "function", name: "get_time", strict: false, parameters },
];

const requests: Record<string, JsonObject> = {
  "a text": { input: "hello é 😀" },
  "thoughts and parallel calls": {
    input: "parallel aloud",
    tools,
    reasoning: { effort: "high" },
    include: ["reasoning.encrypted_content"],
  },
  "an answer cut off": { input: "words:40", max_output_tokens: 16 },
  "a refusal": { input: "refuse:cyber" },
};

async function ask({ provider, model }: Speaker, body: JsonObject): Promise<Response> {
  const response = await fetch(`${simulators.providers[provider]}/responses`, {
    method: "POST",
    headers: { authorization: "Bearer good-key", "content-type": "application/json" },
    body: JSON.stringify({ model, ...body }),
  });
  expect(response.status).toBe(200);
  return response;
}

const count = (value: unknown): number => (typeof value === "number" ? value : 0);

function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  return { usage: { input: count(usage["input_tokens"]), output: count(usage["output_tokens"]) } };
}

const upstreamContext: UpstreamContext = { origin: "upstream", callId: "up", model: "asked", readUsage };
const clientContext: ClientContext = {
  request: { input: "hello", tools },
  callId: "abc123",
  created: 1,
  inputTokensEstimate: 1,
  requestId: "req_1",
};

/** The stream translated to another dialect, from bytes cut anywhere. */
function translate(client: DialectTranslation, bytes: Buffer): string {
  const stream = translateStream({
    upstream: translations.responses,
    upstreamContext,
    client,
    clientContext,
    charged: (told) => told?.usage ?? {},
  });
  let shown = "";
  for (let at = 0; at < bytes.length; at += 7) shown += stream.see(Buffer.from(bytes.subarray(at, at + 7))).toString();
  shown += stream.close().toString();
  expect(stream.complete).toBe(true);
  return shown;
}

/** The official client's result for such a stream. */
function gather(body: string): Promise<OpenAI.Responses.Response> {
  const fetched = new Response(body, { headers: { "content-type": "text/event-stream" } });
  const client = new OpenAI({ apiKey: "k", baseURL: "http://gateway.test/v1", fetch: () => Promise.resolve(fetched) });
  return client.responses.stream({ model: "m", input: "hello" }).finalResponse();
}

/** An item without the parts that differ in every call. */
function saidIn(item: OpenAI.Responses.ResponseOutputItem): unknown {
  switch (item.type) {
    case "message":
      return item.content.map((part) => (part.type === "output_text" ? part.text : part.refusal));
    case "function_call":
      return [item.name, item.arguments];
    case "reasoning":
      return [...(item.content ?? []), ...item.summary].map(({ text }) => text);
    default:
      return item.type;
  }
}

const typesOf = (text: string): string[] => [...text.matchAll(/"type":"([a-z_.]+)"/g)].map(([, type = ""]) => type);

describe.each(speakers)("$provider", (speaker) => {
  test.each(Object.entries(requests))("reads %s", async (_title, body) => {
    const bytes = Buffer.from(await (await ask(speaker, { ...body, stream: true })).arrayBuffer());
    const whole = (await (await ask(speaker, body)).json()) as OpenAI.Responses.Response;

    const gathered = await gather(translate(translations.responses, bytes));
    expect(gathered.output.map(saidIn)).toEqual(whole.output.map(saidIn));
    expect(gathered.status).toBe(whole.status ?? "completed");
    expect(gathered.usage?.input_tokens).toBe(whole.usage?.input_tokens ?? 0);

    const answer = translations.responses.readAnswer({ ...whole }, upstreamContext);
    const again = JSON.parse(translations.responses.writeAnswer(answer, clientContext)) as OpenAI.Responses.Response;
    expect(again.output.map(saidIn)).toEqual(whole.output.map(saidIn));

    expect(translate(translations.chat, bytes)).toEndWith("data: [DONE]\n\n");
    const types = typesOf(translate(translations.messages, bytes));
    expect(types.filter((type) => type === "content_block_start")).toHaveLength(
      types.filter((type) => type === "content_block_stop").length,
    );
  });

  test("is watched without a change but the end that clients wait for", async () => {
    const bytes = Buffer.from(await (await ask(speaker, { input: "hello", stream: true })).arrayBuffer());
    const request = responsesRequest.parse({ model: "m", input: "hello" });
    const observer = responsesCodec.observe(request, readUsage);
    const shown = observer.see(bytes).toString();
    const own = bytes.toString();
    expect(shown).toBe(own.endsWith("data: [DONE]\n\n") ? own : `${own}data: [DONE]\n\n`);
    expect(observer).toMatchObject({ done: true, complete: true, failed: false });
    const said = "You said: hello. That is all I have to say.";
    expect(observer.outputBytes).toBe(said.length);
    expect(observer.usage?.usage.input).toBeGreaterThan(0);
  });

  test("that breaks off is an error", async () => {
    const whole = Buffer.from(await (await ask(speaker, { input: "hello", stream: true })).arrayBuffer());
    const half = whole.subarray(0, whole.lastIndexOf("event: "));
    const stream = translateStream({
      upstream: translations.responses,
      upstreamContext,
      client: translations.responses,
      clientContext,
      charged: (told) => told?.usage ?? {},
    });
    const shown = stream.see(Buffer.from(half)).toString() + stream.close().toString();
    expect(stream.failed).toBe(true);
    const thrown: unknown = await gather(shown).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OpenAI.APIError);
  });
});
