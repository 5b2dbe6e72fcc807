import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI, { RateLimitError } from "openai";
import type { ResponseInputItem } from "openai/resources/responses/responses";

import { type Simulators, startSimulators } from "./index.ts";
import { failureOf } from "./testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const speakers = [
  ["openai", "gpt-5-mini"],
  ["xai", "grok-4.3"],
  ["byteplus", "seed-1-6-250915"],
] as const;

const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const tools = [{ type: "function" as const, name: "get_weather", strict: true, parameters }];

describe.each(speakers)("%s", (provider, model) => {
  const client = (): OpenAI => {
    return new OpenAI({ baseURL: simulators.providers[provider], apiKey: "good-key", maxRetries: 0 });
  };

  test("a response", async () => {
    const response = await client().responses.create({ model, input: "hello sdk" });
    expect(response.output_text).toBe("You said: hello sdk. That is all I have to say.");
    expect(response.usage?.total_tokens).toBe(17);
  });

  test("the stream helper gathers the same output, reasoning and calls included", async () => {
    const asked = { model, input: "parallel aloud", tools, reasoning: { effort: "high", summary: "auto" } } as const;
    const seen: string[] = [];
    const stream = client().responses.stream({ ...asked, tools });
    stream.on("response.output_text.delta", ({ delta }) => seen.push(delta));
    const gathered = await stream.finalResponse();
    expect(gathered.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call", "function_call"]);
    expect(seen.join("")).toBe("Let me look that up.");
    const whole = await client().responses.create({ ...asked, tools });
    expect(gathered.usage).toEqual(whole.usage);
  });

  test("a tool loop with stored responses, and with repeated items", async () => {
    const called = await client().responses.create({ model, input: "weather in steps:2", tools });
    const resultsOf = ({ output }: OpenAI.Responses.Response): ResponseInputItem[] =>
      output.flatMap((item) =>
        item.type === "function_call"
          ? [{ type: "function_call_output", call_id: item.call_id, output: "18 degrees" }]
          : [],
      );
    const kept = { model, tools, previous_response_id: called.id, input: resultsOf(called) };
    const again = await client().responses.create(kept);
    const last = await client().responses.create({ ...kept, previous_response_id: again.id, input: resultsOf(again) });
    expect(last.output_text).toBe("The tool answered: 18 degrees");
    const asked: ResponseInputItem = { role: "user", content: "weather?" };
    const first = await client().responses.create({ model, tools, input: [asked], store: false });
    const repeated = [asked, ...first.output, ...resultsOf(first)] as ResponseInputItem[];
    const told = await client().responses.create({ model, tools, input: repeated, store: false });
    expect(told.output_text).toBe("The tool answered: 18 degrees");
  });

  test("structured output is parsed", async () => {
    const format = { type: "json_schema" as const, name: "weather", schema: parameters, strict: true };
    const response = await client().responses.parse({ model, input: "as json", text: { format } });
    const parsed: unknown = response.output_parsed;
    expect(parsed).toEqual({ city: "sample city" });
  });

  test("looked up and deleted", async () => {
    const { id } = await client().responses.create({ model, input: "keep this" });
    expect((await client().responses.retrieve(id)).output_text).toContain("keep this");
    await client().responses.delete(id);
    expect(await failureOf(client().responses.retrieve(id))).toMatchObject({ status: 404 });
  });

  test("errors are the SDK's classes; one in the middle of a stream is its last event", async () => {
    const limited = client().responses.create({ model: `${model}+status-429`, input: "hi" });
    expect(await failureOf(limited)).toBeInstanceOf(RateLimitError);
    const broken = client().responses.stream({ model: `${model}+error-5`, input: "hello" });
    expect(await failureOf(broken.finalResponse())).toMatchObject({ type: "error", sequence_number: 5 });
    const types: string[] = [];
    const events = await client().responses.create({ model: `${model}+error-5`, input: "hello", stream: true });
    for await (const event of events) types.push(event.type);
    expect(types.slice(-2)).toEqual(["response.output_text.delta", "error"]);
  });
});

test("the input of a kept response is listed", async () => {
  const client = new OpenAI({ baseURL: simulators.providers.openai, apiKey: "good-key", maxRetries: 0 });
  const { id } = await client.responses.create({ model: "gpt-5-mini", input: "list this" });
  const types: string[] = [];
  for await (const item of client.responses.inputItems.list(id)) types.push(item.type);
  expect(types).toEqual(["message"]);
});
