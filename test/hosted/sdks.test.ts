/** Hosted tools through the SDKs of agents, on a model that knows chat alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage, streamText } from "ai";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, type HostedScene, model } from "./hosted-scene.ts";

let server: TestServer;
beforeAll(() => {
  const definition = { name: "weather", description: "The weather", inputSchema: { type: "object", properties: {} } };
  const tools = [
    { ...definition, annotations: { readOnlyHint: true } },
    { ...definition, name: "delete_city" },
  ];
  server = startTestServer({ era: "2026", tools, call: ({ name }) => textResult(`${String(name)}: sunny.`) });
});
afterAll(() => server.stop());

const at = hostedScene(() => ({ mcp: { servers: { cities: { url: server.url } } } }));

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

describe("AI SDK, a server's tools", () => {
  const toolsOf = (scene: HostedScene, more: object = {}) => {
    const openai = createOpenAI(access(scene));
    const serverUrl = `${scene.rig.gateway.url}/mcp/cities`;
    return {
      model: openai.responses(model),
      tools: { mcp: openai.tools.mcp({ serverLabel: "cities", serverUrl, ...more }) },
    };
  };

  test.each([
    [true, "delete_city: sunny.", 1],
    [false, "The user has refused this call", 0],
  ])("that need an approval (given: %p)", async (approved, shown, calls) => {
    const scene = at();
    const before = server.of("tools/call").length;
    scene.answers({ text: "May I?", calls: [{ name: "delete_city", args: {} }] });
    const messages: ModelMessage[] = [{ role: "user", content: "Delete it" }];
    const asked = { ...toolsOf(scene, { requireApproval: "always" }), messages };
    const first = await generateText(asked);
    const request = first.content.find((part) => part.type === "tool-approval-request");
    if (request === undefined) throw new Error(`nothing was asked: ${JSON.stringify(first.content)}`);
    expect([first.text, server.of("tools/call").length - before]).toEqual(["May I?", 0]);
    messages.push(...first.finalStep.response.messages);
    const answer = {
      type: "tool-approval-response",
      approvalId: request.approvalId,
      approved,
      providerExecuted: true,
    } as const;
    messages.push({ role: "tool", content: [answer] });
    scene.answers({ text: "OK." });
    const next = streamText(asked);
    expect(await next.text).toBe("OK.");
    expect(JSON.stringify(scene.asked[0]?.messages)).toContain(shown);
    expect(server.of("tools/call").length - before).toBe(calls);
  });

  test("that are all permitted, of those that only read", async () => {
    const scene = at();
    scene.answers({ calls: [{ name: "weather", args: {} }] }, { text: "OK." });
    const allowed = { requireApproval: "never", allowedTools: { readOnly: true } };
    const { text, toolResults } = await generateText({ ...toolsOf(scene, allowed), prompt: "Hi" });
    expect(text).toBe("OK.");
    expect(JSON.stringify(toolResults)).toContain("weather: sunny.");
    expect(scene.asked[0]?.tools?.map(({ function: { name } }) => name)).toEqual(["weather"]);
  });
});
