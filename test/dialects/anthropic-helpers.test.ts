/** The helpers of Anthropic's SDK: gathered streams, the tool runner, thinking; native and translated alike. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import { type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
let client: Anthropic;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } } });
  const { token } = await rig.caller();
  client = new Anthropic({ baseURL: rig.gateway.url, apiKey: token, maxRetries: 0 });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const max_tokens = 16_000;
const inputSchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;
const tools: Anthropic.Tool[] = [{ name: "get_weather", input_schema: { ...inputSchema, required: ["city"] } }];

/** Models that think by a budget, and one that decides itself. */
const thinkers = [
  ["anthropic/claude-haiku-4-5", { type: "enabled", budget_tokens: 8_000 }],
  ["anthropic/claude-sonnet-5", { type: "adaptive" }],
  ["xai/grok-4.3", { type: "enabled", budget_tokens: 8_000 }],
  ["deepseek/deepseek-chat", { type: "enabled", budget_tokens: 8_000 }],
  ["byteplus/seed-1-6-250915", { type: "enabled", budget_tokens: 8_000 }],
] as const;

describe.each([...thinkers])("%s", (model, thinking) => {
  test.concurrent("the stream helper collects the content of a whole answer: thinking, text, two calls", async () => {
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "parallel aloud" }];
    const asked = { model, max_tokens, tools, thinking, messages };
    let text = "";
    let thoughts = "";
    const inputs: unknown[] = [];
    const stream = client.messages.stream(asked);
    stream.on("text", (delta) => {
      text += delta;
    });
    stream.on("thinking", (delta) => {
      thoughts += delta;
    });
    stream.on("contentBlock", (block) => {
      if (block.type === "tool_use") inputs.push(block.input);
    });
    let estimate = 0;
    stream.on("streamEvent", (event) => {
      if (event.type === "message_start") estimate = event.message.usage.input_tokens;
    });
    const gathered = await stream.finalMessage();
    expect(estimate).toBeGreaterThan(0);
    expect(gathered.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use", "tool_use"]);
    expect(text).toBe("Let me look that up.");
    expect(thoughts).toContain("I consider the last one");
    expect(inputs).toEqual([{ city: "sample city" }, { city: "sample city" }]);
    expect(gathered.stop_reason).toBe("tool_use");
    const whole = await client.messages.create(asked);
    expect(gathered.usage.input_tokens).toBe(whole.usage.input_tokens);
    expect(gathered.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(gathered.content[0]).toMatchObject({ thinking: thoughts });
  });

  test.concurrent.each([undefined, false] as const)(
    "the tool runner goes through its loop; thread: %p",
    async (thread) => {
      const cities: unknown[] = [];
      const weather = betaTool({
        name: "get_weather",
        description: "Weather of a city",
        inputSchema,
        run: ({ city }) => {
          cities.push(city);
          return "18 degrees";
        },
      });
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens,
        thinking,
        tools: [weather],
        messages: [{ role: "user", content: "weather in steps:2" }],
        ...(thread === undefined ? {} : { thread }),
      });
      expect((await runner).content.at(-1)).toMatchObject({ type: "text", text: "The tool answered: 18 degrees" });
      expect(cities).toEqual(["sample city", "sample city"]);
    },
  );
});

test("a runner's conversation is held by Anthropic, and sent whole to everybody else", async () => {
  const sentTo = async (model: string): Promise<number[]> => {
    const run = async (): Promise<string> => "18 degrees";
    const weather = betaTool({ name: "get_weather", description: "Weather", inputSchema, run });
    const content = `weather in steps:2, threaded with ${model}`;
    await client.beta.messages.toolRunner({
      model,
      max_tokens,
      tools: [weather],
      messages: [{ role: "user", content }],
    });
    return rig.received(model.split("/")[1] ?? "").map(({ body }) => {
      return (JSON.parse(body) as { messages: unknown[] }).messages.length;
    });
  };
  expect(await sentTo("anthropic/claude-opus-4-6")).toEqual([1, 1, 1]);
  expect(await sentTo("openai/gpt-4o")).toEqual([1, 3, 5]);
});

test("an unsupported thread is refused with the SDK's own class, before anything is held or sent", async () => {
  const call = client.beta.messages.create({
    model: "google/gemini-2.5-flash",
    max_tokens,
    messages: [{ role: "user", content: "never sent" }],
    thread: { type: "create" },
    betas: ["message-threads-2026-08-12"],
  });
  const thrown: unknown = await call.catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(Anthropic.BadRequestError);
  expect(thrown).toHaveProperty("error.error.details", { error_code: "thread_unsupported_request" });
  expect(rig.simulators.requests().filter(({ body }) => body.includes("never sent"))).toEqual([]);
});

describe.each(["anthropic/claude-haiku-4-5", "openai/gpt-4o-mini"])("%s", (model) => {
  test.concurrent("parse: the answer by a schema", async () => {
    const format = zodOutputFormat(z.object({ city: z.string() }));
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Where?" }];
    const message = await client.messages.parse({ model, max_tokens, messages, output_config: { format } });
    expect(message.parsed_output).toEqual({ city: "sample city" });
  });

  test.concurrent("tokens are counted, or estimated", async () => {
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "How many tokens are these words, please?" }];
    const { input_tokens: counted } = await client.messages.countTokens({ model, messages });
    const { usage } = await client.messages.create({ model, max_tokens, messages });
    expect(counted).toBeGreaterThan(usage.input_tokens * 0.5);
    expect(counted).toBeLessThan(usage.input_tokens * 2);
  });

  test.concurrent("a system prompt of blocks, an error of a tool", async () => {
    const answer = await client.messages.create({
      model,
      max_tokens,
      tools,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "toolu_1", name: "get_weather", input: { city: "Paris" } }],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_1",
              is_error: true,
              content: [{ type: "text", text: "no such city" }],
            },
          ],
        },
      ],
    });
    const [block] = answer.content;
    expect(block?.type === "text" && block.text).toContain("no such city");
    expect(answer.stop_reason).toBe("end_turn");
  });
});
