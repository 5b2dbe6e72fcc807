/** Vercel's `ai` with each of its providers for our dialects, over native and translated models. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, type LanguageModel, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { type Rig, startRig } from "../kit/index.ts";
import { messagesOnly } from "./messages-only.ts";

let rig: Rig;
let token: string;
beforeAll(async () => {
  // It knows no limit for unknown models, and warns each time.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  rig = await startRig({ config: { upstream: { retries: 0 } }, providers: messagesOnly });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const access = () => ({ baseURL: `${rig.gateway.url}/v1`, apiKey: token });

type MakeModel = (model: string) => LanguageModel;

/** Each client package, with a model of its own dialect and with others. */
const packages: [name: string, make: MakeModel, models: string[]][] = [
  [
    "@ai-sdk/openai, chat",
    (model) => createOpenAI(access()).chat(model),
    // Google's calls in chat streams have no index, which this package insists on: the bytes are Google's.
    ["openai/gpt-4o-mini", "native/claude-haiku-4-5", "mistral/mistral-small-latest"],
  ],
  [
    "@ai-sdk/openai, Responses",
    (model) => createOpenAI(access()).responses(model),
    [
      "openai/gpt-5-mini",
      "xai/grok-4.3",
      "byteplus/seed-1-6-250915",
      "deepseek/deepseek-chat",
      "native/claude-haiku-4-5",
    ],
  ],
  [
    "@ai-sdk/anthropic",
    (model) => createAnthropic(access())(model),
    [
      "anthropic/claude-haiku-4-5",
      "openai/gpt-4o-mini",
      "mistral/mistral-small-latest",
      "google/gemini-3-flash-preview",
    ],
  ],
  [
    "@ai-sdk/openai-compatible",
    (model) => createOpenAICompatible({ name: "tollgate", includeUsage: true, ...access() })(model),
    ["deepseek/deepseek-chat", "native/claude-haiku-4-5", "byteplus/seed-1-6-250915"],
  ],
];

const cases = packages.flatMap(([name, make, models]) => models.map((model) => [name, model, make] as const));

describe.each(cases)("%s: %s", (_, id, make) => {
  function weather(cities: string[]) {
    return tool({
      description: "Weather of a city",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        cities.push(city);
        return "18 degrees";
      },
    });
  }

  test.concurrent("generateText", async () => {
    const { text, finishReason, usage } = await generateText({ model: make(id), prompt: "Hello!", maxRetries: 0 });
    expect(text).toBe("You said: Hello!. That is all I have to say.");
    expect(finishReason).toBe("stop");
    expect(usage).toMatchObject({ inputTokens: 5, outputTokens: 10 });
  });

  test.concurrent("streamText through a loop of two rounds of calls", async () => {
    const cities: string[] = [];
    const errors: unknown[] = [];
    const result = streamText({
      model: make(id),
      prompt: "weather in steps:2",
      tools: { get_weather: weather(cities) },
      stopWhen: stepCountIs(4),
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    expect(errors).toEqual([]);
    expect(text).toContain("18 degrees");
    expect(cities).toEqual(["sample city", "sample city"]);
    const steps = await result.steps;
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "tool-calls", "stop"]);
    for (const { usage } of steps) {
      expect(usage.inputTokens).toBeGreaterThan(0);
      expect(usage.outputTokens).toBeGreaterThan(0);
    }
  });

  test.concurrent("two calls at once, then their results", async () => {
    const cities: string[] = [];
    const { text, steps } = await generateText({
      model: make(id),
      prompt: "parallel aloud",
      tools: { get_weather: weather(cities), get_climate: weather(cities) },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    expect(steps[0]?.toolCalls.map(({ toolName }) => toolName)).toEqual(["get_weather", "get_climate"]);
    expect(cities).toEqual(["sample city", "sample city"]);
    expect(text.match(/18 degrees/g)).toHaveLength(2);
  });

  test.concurrent("an error keeps its status", async () => {
    const model = make(`${id}+status-429`);
    const thrown: unknown = await generateText({ model, prompt: "Hello!", maxRetries: 0 }).catch(
      (reason: unknown) => reason,
    );
    expect(thrown).toBeInstanceOf(APICallError);
    expect(thrown).toMatchObject({ statusCode: 429 });
  });

  test.concurrent("a stream that fails contains its error", async () => {
    const errors: unknown[] = [];
    const result = streamText({
      model: make(`${id}+error-12+pace-2`),
      prompt: "words:40",
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    expect(text).toStartWith("amber bridge");
    expect(text).not.toContain("river");
    expect(errors).not.toEqual([]);
  });
});

test.each([
  ["@ai-sdk/openai, Responses", (model: string) => createOpenAI(access()).responses(model), "openai/gpt-5-mini"],
  ["@ai-sdk/openai, Responses", (model: string) => createOpenAI(access()).responses(model), "google/gemini-2.5-flash"],
  ["@ai-sdk/openai, chat", (model: string) => createOpenAI(access()).chat(model), "native/claude-haiku-4-5"],
  ["@ai-sdk/anthropic", (model: string) => createAnthropic(access())(model), "xai/grok-4.3"],
] as const)("%s: an object by its schema from %s", async (_, make, id) => {
  const schema = z.object({ city: z.string() });
  const { output } = await generateText({
    model: make(id),
    prompt: "Where?",
    output: Output.object({ schema }),
    maxRetries: 0,
  });
  expect(output).toEqual({ city: "sample city" });
});
