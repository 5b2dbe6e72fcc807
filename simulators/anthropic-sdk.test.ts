import { afterAll, beforeAll, expect, test } from "bun:test";

import Anthropic, { APIError, BadRequestError, NotFoundError, RateLimitError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";

import { type Simulators, startSimulators } from "./index.ts";
import { failureOf, listOf } from "./testing/client.ts";

let simulators: Simulators;
let client: Anthropic;

beforeAll(async () => {
  simulators = await startSimulators();
  client = new Anthropic({ baseURL: simulators.providers.anthropic, apiKey: "good-key", maxRetries: 0 });
});
afterAll(() => simulators.stop());

const model = "claude-sonnet-5";
const max_tokens = 1_024;
const hello: Anthropic.MessageParam[] = [{ role: "user", content: "hello sdk" }];
const input_schema = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
};
const tools: Anthropic.Tool[] = [{ name: "get_weather", input_schema }];

test("the SDK speaks the newer version with a Bearer key", async () => {
  simulators.clear();
  const message = await client.messages.create({ model, max_tokens, messages: hello });
  expect(message.content).toMatchObject([{ type: "text", text: "You said: hello sdk. That is all I have to say." }]);
  const [request] = simulators.requests();
  expect(request?.headers).toMatchObject({ authorization: "Bearer good-key", "anthropic-version": "2026-10-21" });
});

test("the stream helper gathers the same message, thinking and calls included", async () => {
  const asked = {
    model,
    max_tokens,
    tools,
    thinking: { type: "adaptive" as const },
    messages: [{ role: "user" as const, content: "parallel aloud" }],
  };
  const seen: string[] = [];
  const stream = client.messages.stream(asked);
  stream.on("text", (text) => seen.push(text));
  const gathered = await stream.finalMessage();
  const whole = await client.messages.create(asked);
  expect(gathered.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use", "tool_use"]);
  const [thought]: unknown[] = gathered.content;
  expect(thought).toEqual(whole.content[0]);
  expect(seen.join("")).toBe("Let me look that up.");
  expect(gathered.usage.output_tokens).toBe(whole.usage.output_tokens);
  expect(gathered.stop_reason).toBe("tool_use");
});

test.each([true, false])("the tool runner goes through a loop with its thinking; on a thread: %p", async (threaded) => {
  simulators.clear();
  const cities: unknown[] = [];
  const weather = betaTool({
    name: "get_weather",
    description: "Weather of a city",
    inputSchema: input_schema,
    run: ({ city }) => {
      cities.push(city);
      return "18 degrees";
    },
  });
  const last = await client.beta.messages.toolRunner({
    model,
    max_tokens,
    thinking: { type: "adaptive" },
    tools: [weather],
    messages: [{ role: "user", content: "weather in steps:2" }],
    ...(threaded ? {} : { thread: false }),
  });
  expect(cities).toEqual(["sample city", "sample city"]);
  expect(last.content.at(-1)).toMatchObject({ type: "text", text: "The tool answered: 18 degrees" });
  const sent = simulators.requests().map(({ body }) => listOf({ text: body }, "messages").length);
  expect(sent).toEqual(threaded ? [1, 1, 1] : [1, 3, 5]);
});

test("structured output is parsed", async () => {
  const format = { type: "json_schema" as const, schema: { ...input_schema, additionalProperties: false } };
  const message = await client.messages.create({ model, max_tokens, messages: hello, output_config: { format } });
  const [block] = message.content;
  expect(block?.type === "text" && JSON.parse(block.text)).toEqual({ city: "sample city" });
});

test("tokens are counted, models listed", async () => {
  expect((await client.messages.countTokens({ model, messages: hello })).input_tokens).toBe(6);
  const ids: string[] = [];
  for await (const listed of client.models.list()) ids.push(listed.id);
  expect(ids).toContain(model);
});

test("errors are the SDK's classes, in the middle of a stream too", async () => {
  const fail = (faulty: string) => failureOf(client.messages.create({ model: faulty, max_tokens, messages: hello }));
  expect(await fail(`${model}+status-429`)).toBeInstanceOf(RateLimitError);
  expect(await fail("missing-model")).toBeInstanceOf(NotFoundError);
  const overlong = client.messages.create({
    model: "claude-opus-4-8",
    max_tokens: 200_000,
    messages: hello,
    stream: true,
  });
  expect(await failureOf(overlong)).toBeInstanceOf(BadRequestError);
  const broken = client.messages.stream({ model: `${model}+error-4`, max_tokens, messages: hello });
  const failure = await failureOf(broken.finalMessage());
  expect(failure).toBeInstanceOf(APIError);
  expect(String(failure)).toContain("Overloaded");
});
