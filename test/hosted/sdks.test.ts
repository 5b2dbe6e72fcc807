/** Hosted tools through the SDKs of agents, on a model that knows chat alone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import { hostedScene, type HostedScene, model } from "./hosted-scene.ts";

const at = hostedScene();

let warnings: unknown;
beforeAll(() => {
  warnings = globalThis.AI_SDK_LOG_WARNINGS;
  // It knows no limit for unknown models, and warns each time.
  globalThis.AI_SDK_LOG_WARNINGS = false;
});
afterAll(() => {
  globalThis.AI_SDK_LOG_WARNINGS = warnings as false;
});

function searching(scene: HostedScene): void {
  scene.finds({ path: "/a", title: "A mountain", content: "3747 m high." });
  scene.answers(
    { calls: [{ name: "web_search", args: { query: "height" } }] },
    { text: 'It is <cite id="1">3747 m high</cite>.' },
  );
}

const access = ({ rig, caller }: HostedScene) => ({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token });

test("AI SDK, Responses: the search is one that the provider has executed, with its sources", async () => {
  const scene = at();
  const openai = createOpenAI(access(scene));
  const asked = {
    model: openai.responses(model),
    prompt: "How high?",
    tools: { web_search: openai.tools.webSearch({}) },
  };
  searching(scene);
  const { text, sources, toolCalls } = await generateText(asked);
  expect(text).toBe("It is 3747 m high.");
  expect(sources).toMatchObject([{ sourceType: "url", url: scene.url("/a") }]);
  expect(toolCalls).toMatchObject([{ toolName: "web_search", providerExecuted: true }]);
  searching(scene);
  const streamed = streamText(asked);
  expect(await streamed.text).toBe(text);
  expect(await streamed.sources).toMatchObject([{ url: scene.url("/a") }]);
});

test("AI SDK, Messages: the same", async () => {
  const scene = at();
  const anthropic = createAnthropic(access(scene));
  const tools = { web_search: anthropic.tools.webSearch_20250305({ maxUses: 3 }) };
  const asked = { model: anthropic(model), prompt: "How high?", tools };
  searching(scene);
  const { text, sources, toolResults } = await generateText(asked);
  expect(text).toBe("It is 3747 m high.");
  expect(sources).toMatchObject([{ url: scene.url("/a"), title: "A mountain" }]);
  expect(toolResults).toMatchObject([{ toolName: "web_search", providerExecuted: true }]);
  searching(scene);
  expect(await streamText(asked).text).toBe(text);
});
