/** Hosted tools through the SDKs of agents, on a model that knows chat alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage, streamText } from "ai";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

let server: TestServer;
beforeAll(() => {
  const definition = { name: "weather", description: "The weather", inputSchema: { type: "object", properties: {} } };
  const tools = [
    { ...definition, annotations: { readOnlyHint: true } },
    { ...definition, name: "delete_city" },
    { ...definition, name: "run", inputSchema: { type: "object", properties: { text: { type: "string" } } } },
  ];
  server = startTestServer({ era: "2026", tools, call: ({ name }) => textResult(`${String(name)}: sunny.`) });
});
afterAll(() => server.stop());

const run = "cities__run";
const at = hostedScene(() => ({
  mcp: { servers: { cities: { url: server.url } }, models: { image: "pictures/gpt-image-1" } },
  tools: { hosted: { code_interpreter: run, code_execution: run, file_search: run } },
}));

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

describe("AI SDK, tools that run here are executed by the provider", () => {
  const call = (name: string, args: object) => ({ calls: [{ name, args: { ...args } }] });
  type Called = Parameters<typeof generateText>[0];
  const cases: Readonly<
    Record<string, (scene: HostedScene) => { asked: Called; answer: ModelAnswer; output: unknown }>
  > = {
    code(scene) {
      const openai = createOpenAI(access(scene));
      const tools = { code: openai.tools.codeInterpreter() };
      const output = { outputs: [{ type: "logs", logs: "run: sunny." }] };
      return {
        asked: { model: openai.responses(model), prompt: "Hi", tools },
        answer: call("code_interpreter", { code: "1" }),
        output,
      };
    },
    files(scene) {
      const openai = createOpenAI(access(scene));
      const tools = { files: openai.tools.fileSearch({ vectorStoreIds: [] }) };
      const providerOptions = { openai: { include: ["file_search_call.results" as const] } };
      const output = { queries: ["a"], results: [{ filename: "run", text: "run: sunny." }] };
      const asked = { model: openai.responses(model), prompt: "Hi", tools, providerOptions };
      return { asked, answer: call("file_search", { queries: ["a"] }), output };
    },
    image(scene) {
      const openai = createOpenAI(access(scene));
      const tools = { image: openai.tools.imageGeneration({ quality: "low" }) };
      const answer = call("image_generation", { prompt: "a cat" });
      return {
        asked: { model: openai.responses(model), prompt: "Hi", tools },
        answer,
        output: { result: "iVBORw0KGgo=" },
      };
    },
    "code of Messages"(scene) {
      const anthropic = createAnthropic(access(scene));
      const tools = { code_execution: anthropic.tools.codeExecution_20250825() };
      const output = { type: "code_execution_result", stdout: "run: sunny.", return_code: 0 };
      return {
        asked: { model: anthropic(model), prompt: "Hi", tools },
        answer: call("code_execution", { code: "1" }),
        output,
      };
    },
  };

  test.each(Object.keys(cases))("%s", async (title) => {
    const scene = at();
    const found = cases[title]?.(scene);
    if (found === undefined) throw new Error("no such case");
    const { asked, answer, output } = found;
    scene.answers(answer, { text: "Done." });
    const whole = await generateText(asked);
    expect(whole.text).toBe("Done.");
    expect(whole.toolResults).toMatchObject([{ output, providerExecuted: true }]);
    scene.answers(answer, { text: "Done." });
    const streamed = streamText(asked);
    expect(await streamed.text).toBe("Done.");
    expect(await streamed.toolResults).toMatchObject([{ output, providerExecuted: true }]);
  });
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
