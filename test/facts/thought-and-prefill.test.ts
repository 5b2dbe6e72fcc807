/** Members of chat that other providers have for thinking, an answer to continue at Mistral, and sound that no model takes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatPath, lastReceived, messagesPath, post, responsesPath, type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig({
    providers: ({ providers }) => ({
      messages: { kind: "anthropic", base_url: providers.anthropic, api_key: "sim-key", dialects: ["messages"] },
    }),
  });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const hello = { role: "user", content: "Hello." };

async function sentFor(path: string, body: object): Promise<{ sent: Record<string, unknown>; changes: string | null }> {
  const answer = await post(rig, path, token, body);
  expect(answer.status, await answer.text()).toBe(200);
  const sent = JSON.parse(lastReceived(rig).body) as Record<string, unknown>;
  return { sent, changes: answer.headers.get("x-tollgate-changes") };
}

describe.each([
  { asked: { reasoning: { effort: "high" } }, effort: "high", budget: 24_576 },
  { asked: { reasoning: { max_tokens: 2_000 } }, effort: "low", budget: 2_000 },
  { asked: { thinking: { type: "enabled", budget_tokens: 2_000 } }, effort: "low", budget: 2_000 },
  { asked: { reasoning: { effort: "high" }, reasoning_effort: "low" }, effort: "low", budget: 4_096 },
])("$asked", ({ asked, effort, budget }) => {
  const body = { messages: [hello], max_tokens: 60_000, ...asked };

  test.each(["openai/gpt-5-mini", "google/gemini-2.5-flash", "xai/grok-4.3"])("is an effort at %s", async (model) => {
    const { sent, changes } = await sentFor(chatPath, { model, ...body });
    expect(sent).toMatchObject({ reasoning_effort: effort });
    expect(Object.keys(sent)).not.toContain("reasoning");
    expect(Object.keys(sent)).not.toContain("thinking");
    expect(changes).toContain("thinking");
  });

  test("is a budget at Claude", async () => {
    const { sent } = await sentFor(chatPath, { model: "messages/claude-sonnet-4-5", ...body });
    expect(sent["thinking"]).toEqual({ type: "enabled", budget_tokens: budget });
  });
});

test("thinking that is switched off is the effort none where there is one", async () => {
  const off = { messages: [hello], reasoning: { enabled: false } };
  expect((await sentFor(chatPath, { model: "openai/gpt-5.1", ...off })).sent).toMatchObject({
    reasoning_effort: "none",
  });
  expect((await sentFor(chatPath, { model: "openai/gpt-5-mini", ...off })).sent).not.toHaveProperty("reasoning_effort");
});

test("providers that have the member get it", async () => {
  const asked = { model: "deepseek/deepseek-v4-pro", messages: [hello], thinking: { type: "enabled" } };
  const { sent, changes } = await sentFor(chatPath, asked);
  expect(sent).toMatchObject({ thinking: { type: "enabled" } });
  expect(changes).toBeNull();
});

test.each([
  [chatPath, { reasoning_effort: "none" }],
  [messagesPath, { thinking: { type: "disabled" }, max_tokens: 50 }],
  [responsesPath, { reasoning: { effort: "none" } }],
])("DeepSeek is asked not to think by its switch: %s %j", async (path, asked) => {
  const said = path === responsesPath ? { input: "Hello." } : { messages: [hello] };
  const { sent } = await sentFor(path, { model: "deepseek/deepseek-v4-pro", ...said, ...asked });
  expect(sent["thinking"]).toEqual({ type: "disabled" });
  expect(Object.keys(sent)).not.toContain("reasoning_effort");
});

test.each([
  ["minimal", "low"],
  ["medium", "low"],
  ["xhigh", "high"],
  ["max", "max"],
])("DeepSeek's effort for %s is %s", async (reasoning_effort, effort) => {
  const asked = { model: "deepseek/deepseek-v4-pro", messages: [hello], reasoning_effort };
  expect((await sentFor(chatPath, asked)).sent).toMatchObject({ reasoning_effort: effort });
});

test("with tools DeepSeek thinks if all earlier answers have their thoughts, and not otherwise", async () => {
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
  const answer = { role: "assistant", content: "Hi." };
  const asked = { model: "deepseek/deepseek-v4-pro", tools, reasoning_effort: "high" };
  const lost = await sentFor(chatPath, { ...asked, messages: [hello, answer, hello] });
  expect(lost.sent["thinking"]).toEqual({ type: "disabled" });
  expect(Object.keys(lost.sent)).not.toContain("reasoning_effort");
  expect(lost.changes).toBe("thinking");
  const returned = { ...answer, reasoning_content: "Hm." };
  const whole = await sentFor(chatPath, { ...asked, messages: [hello, returned, hello] });
  expect(whole.sent).toMatchObject({ reasoning_effort: "high", messages: [hello, returned, hello] });
  expect(whole.changes).toBeNull();
});

test.each([chatPath, messagesPath])("an answer to continue is marked for Mistral: %s", async (path) => {
  const messages = [hello, { role: "assistant", content: "{" }];
  const { sent, changes } = await sentFor(path, { model: "mistral/mistral-small-latest", max_tokens: 50, messages });
  expect(sent["messages"]).toEqual([hello, { role: "assistant", content: "{", prefix: true }]);
  expect(changes).toContain("prefill");
});

test.each([chatPath, messagesPath])("an answer to continue goes to DeepSeek's beta: %s", async (path) => {
  const messages = [hello, { role: "assistant", content: "{" }];
  const { sent, changes } = await sentFor(path, { model: "deepseek/deepseek-chat", max_tokens: 50, messages });
  expect(sent["messages"]).toEqual([hello, { role: "assistant", content: "{", prefix: true }]);
  expect(lastReceived(rig).path).toBe("/deepseek/beta/chat/completions");
  expect(changes).toContain("prefill");
  const usual = await sentFor(path, { model: "deepseek/deepseek-chat", max_tokens: 50, messages: [hello] });
  expect([lastReceived(rig).path, usual.changes]).toEqual(["/deepseek/v1/chat/completions", null]);
});

const more = "Continue your last message exactly where it ends, and repeat nothing of it.";

describe.each([
  [chatPath, "anthropic/claude-opus-4-8"],
  [chatPath, "messages/claude-sonnet-5"],
  [messagesPath, "anthropic/claude-haiku-5-5"],
])("%s at %s, which continues no answer", (path, model) => {
  const begun = (content: unknown): object => ({
    model,
    max_tokens: 50,
    messages: [hello, { role: "assistant", content }],
  });

  test("the user asks for its end", async () => {
    const { sent, changes } = await sentFor(path, begun("{"));
    expect(sent["messages"]).toMatchObject([hello, { role: "assistant" }, { role: "user", content: more }]);
    expect(changes).toBe("prefill");
  });

  test("an empty one is left out", async () => {
    const { sent, changes } = await sentFor(path, begun(""));
    expect(sent["messages"]).toEqual([hello]);
    expect(changes).toBe("prefill");
  });
});

test("an answer that Claude has paused goes on as it is, and an older model continues one", async () => {
  const paused = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } };
  const searches = {
    model: "anthropic/claude-opus-5",
    max_tokens: 50,
    messages: [hello, { role: "assistant", content: [{ type: "text", text: "I look." }, paused] }],
    tools: [{ type: "web_search_20250305", name: "web_search" }],
  };
  const begun = [hello, { role: "assistant", content: "It" }];
  for (const body of [searches, { model: "anthropic/claude-haiku-4-5", max_tokens: 50, messages: begun }]) {
    const { sent, changes } = await sentFor(messagesPath, body);
    expect([sent["messages"], changes]).toEqual([body.messages, null]);
  }
});

describe("thinking that Claude can't do with the rest of the request is named", () => {
  const model = "messages/claude-sonnet-4-5";
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
  const asked = { model, messages: [hello], reasoning_effort: "high" };
  test.each([
    ["a tool that must be called", { ...asked, tools, tool_choice: "required" }],
    ["a limit without room for it", { ...asked, max_tokens: 1_100 }],
    [
      "calls that have lost theirs",
      {
        ...asked,
        tools,
        messages: [
          hello,
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c1", content: "1" },
        ],
      },
    ],
  ])("%s", async (_title, body) => {
    const { sent, changes } = await sentFor(chatPath, body);
    expect([sent["thinking"], changes]).toEqual([undefined, "thinking"]);
  });
});

test.each([
  ["claude-opus-5", "max", "high"],
  ["claude-haiku-5-5", "xhigh", "high"],
  ["claude-sonnet-5", "max", "max"],
])("%s without thinking gets for the effort %s %s", async (model, effort, expected) => {
  const off = { thinking: { type: "disabled" }, output_config: { effort } };
  const body = { model: `anthropic/${model}`, max_tokens: 50, messages: [hello], ...off };
  const { sent, changes } = await sentFor(messagesPath, body);
  expect(sent).toMatchObject({ ...off, output_config: { effort: expected } });
  expect(changes).toBe(effort === expected ? null : "thinking");
});

test("a model without a price for sound takes none, as the member that asks for it says", async () => {
  const data = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };
  const body = { model: "openai/gpt-5-mini", messages: [{ role: "user", content: [data] }] };
  const answer = await post(rig, chatPath, token, body);
  const { error } = (await answer.json()) as { error: { message: string; param: string } };
  expect([answer.status, error.param]).toEqual([422, "messages"]);
  expect(error.message).toContain("audio, which this model does not take");
});

describe("members of messages that Mistral refuses", () => {
  const model = "mistral/mistral-small-latest";
  const call = { id: "abcdefghi", type: "function", function: { name: "f", arguments: "{}" } };
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];

  test("are left out: those that the SDK of OpenAI adds, and names", async () => {
    const answer = {
      role: "assistant",
      content: null,
      refusal: null,
      parsed: null,
      annotations: [],
      tool_calls: [call],
    };
    const result = { role: "tool", tool_call_id: "abcdefghi", name: "f", content: "1" };
    const messages = [{ ...hello, name: "ann" }, answer, result];
    const { sent, changes } = await sentFor(chatPath, { model, tools, messages });
    expect(sent["messages"]).toMatchObject([hello, { role: "assistant", tool_calls: [call] }, { role: "tool" }]);
    const members = (sent["messages"] as object[]).map((message) => Object.keys(message).toSorted());
    expect(members.slice(0, 2)).toEqual([
      ["content", "role"],
      ["content", "role", "tool_calls"],
    ]);
    expect(changes).toBe("members");
  });

  test("a refusal becomes the text of its answer", async () => {
    const messages = [hello, { role: "assistant", content: null, refusal: "No." }, hello];
    const { sent } = await sentFor(chatPath, { model, messages });
    expect(sent["messages"]).toEqual([hello, { role: "assistant", content: "No." }, hello]);
  });

  test("those that it takes pass as they are", async () => {
    const messages = [hello, { role: "assistant", content: "Hi." }, hello];
    const { sent, changes } = await sentFor(chatPath, { model, messages });
    expect([sent["messages"], changes]).toEqual([messages, null]);
  });
});

const weather = { name: "f", parameters: { type: "object", properties: {} } };
const functionsIn = {
  [messagesPath]: { max_tokens: 500, messages: [hello], tools: [{ name: "f", input_schema: weather.parameters }] },
  "/v1beta/models/openai/gpt-5.5:generateContent": {
    contents: [{ role: "user", parts: [{ text: "Hello." }] }],
    tools: [{ functionDeclarations: [weather] }],
  },
};

describe("functions at a model whose chat takes none while it thinks", () => {
  test.each(Object.entries(functionsIn))("%s: go to Responses, which stores nothing", async (path, body) => {
    const { sent, changes } = await sentFor(path, { model: "openai/gpt-5.5", ...body });
    expect(lastReceived(rig).path).toBe("/openai/v1/responses");
    expect([sent["store"], changes]).toEqual([false, "chat-tools"]);
  });

  test("stay in chat if it is asked not to think", async () => {
    const body = { ...functionsIn[messagesPath], thinking: { type: "disabled" } };
    await sentFor(messagesPath, { model: "openai/gpt-5.5", ...body });
    expect(lastReceived(rig).path).toBe("/openai/v1/chat/completions");
  });
});

test.each([
  [responsesPath, { input: "Hello.", tools: [{ type: "function", ...weather }], tool_choice: "required" }],
  [
    "/v1beta/models/anthropic/claude-opus-5-5:generateContent",
    {
      contents: [{ role: "user", parts: [{ text: "Hello." }] }],
      tools: [{ functionDeclarations: [weather] }],
      toolConfig: { functionCallingConfig: { mode: "ANY" } },
    },
  ],
])("%s: a tool that must be called, at a Claude that can't be forced", async (path, body) => {
  const { sent, changes } = await sentFor(path, { model: "anthropic/claude-opus-5-5", ...body });
  expect(lastReceived(rig).path).toBe("/anthropic/v1/messages");
  expect([sent["output_config"] === undefined, changes]).toEqual([false, "forced-tools"]);
});

test("results of tools are texts for xAI's Responses, and their images the user's", async () => {
  const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
  const texts = ["one", "two"].map((text) => ({ type: "input_text", text }));
  const asked = (output: unknown): object => ({
    model: "xai/grok-4.3",
    input: [
      hello,
      { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output },
      hello,
    ],
  });
  const itemsOf = ({ sent }: { sent: Record<string, unknown> }) => (sent["input"] as object[]).slice(2);
  const listed = await sentFor(responsesPath, asked(texts));
  expect(itemsOf(listed)).toMatchObject([{ output: "one\ntwo" }, { role: "user" }]);
  expect(listed.changes).toBe("tool-results");
  const pictured = await sentFor(responsesPath, asked([image]));
  expect(itemsOf(pictured)).toMatchObject([
    { output: "The result follows in the next message." },
    { role: "user", content: [{ text: "Of the result of tool call call_1:" }, image, { text: "Hello." }] },
  ]);
  expect((await sentFor(responsesPath, asked("one"))).changes).toBeNull();
});
