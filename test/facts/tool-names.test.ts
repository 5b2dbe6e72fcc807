/** Names of tools that a provider refuses: it gets others, and the client its own, whole, streamed and in histories. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { lastReceived, type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
let apiKey: string;
beforeAll(async () => {
  rig = await startRig({
    providers: ({ providers }) => ({
      "openai-responses": {
        kind: "openai",
        base_url: providers.openai,
        api_key: "sim-key",
        dialects: ["responses"],
      },
    }),
  });
  ({ token: apiKey } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const openai = () => new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: rig.gateway.url, apiKey, maxRetries: 0 });

const name = `mcp__a.very/long server name that goes on__${"and_a_tool_".repeat(9)}yes`;
const parameters = { type: "object" as const, properties: {} };

/** The names in the last request upstream. */
function sentNames(): string[] {
  const { body } = lastReceived(rig);
  return [...body.matchAll(/"name":"([^"]*)"/g)].map(([, found = ""]) => found);
}

function expectFitting(count: number, max: number): void {
  const names = sentNames();
  expect(names).toHaveLength(count);
  expect(new Set(names).size).toBe(1);
  expect(names[0]).toMatch(new RegExp(`^mcp__a_very_long_server[a-zA-Z0-9_-]+_[0-9a-f]{8}$`));
  expect(names[0]?.length).toBe(max);
}

const models = [
  { model: "openai/gpt-4o-mini", max: 64 },
  { model: "openai-responses/gpt-4o-mini", max: 64 },
  { model: "anthropic/claude-haiku-4-5", max: 128 },
  { model: "google/gemini-2.5-flash", max: 64 },
  { model: "xai/grok-4.3", max: 64 },
  { model: "byteplus/seed-1-8-251228", max: 64 },
  { model: "mistral/mistral-small-latest", max: 64 },
  { model: "deepseek/deepseek-v4-pro", max: 64 },
];

describe.each(models)("$model", ({ model, max }) => {
  const user = { role: "user" as const, content: "Look it up." };

  test.each([false, true])("a client of chat, streamed: %p", async (stream) => {
    const tools = [{ type: "function" as const, function: { name, parameters } }];
    const choice = { type: "function" as const, function: { name } };
    const body = { model, messages: [user], tools, tool_choice: choice };
    const { completions } = openai().chat;
    const sent = await (stream ? completions.stream(body).finalChatCompletion() : completions.create(body));
    const message = sent.choices[0]?.message;
    const call = message?.tool_calls?.[0];
    if (message === undefined || call?.type !== "function") throw new Error("no call");
    expect(call.function.name).toBe(name);
    const result = { role: "tool" as const, tool_call_id: call.id, content: "42" };
    const history = { model, messages: [user, message, result], tools };
    const { data, response } = await completions.create(history).withResponse();
    expect(data.choices[0]?.message.content).toContain("42");
    expect(response.headers.get("x-tollgate-changes")).toContain("tool-names");
    expectFitting(2, max);
  });

  test.each([false, true])("a client of Messages, streamed: %p", async (stream) => {
    const tools = [{ name, input_schema: parameters }];
    const body = { model, max_tokens: 500, messages: [user], tools };
    const { messages } = anthropic();
    const { content } = await (stream ? messages.stream(body).finalMessage() : messages.create(body));
    const call = content.find((block) => block.type === "tool_use");
    expect(call?.name).toBe(name);
    const results = [{ type: "tool_result" as const, tool_use_id: call?.id ?? "", content: "42" }];
    const history = [user, { role: "assistant" as const, content }, { role: "user" as const, content: results }];
    const { data, response } = await messages.create({ ...body, messages: history }).withResponse();
    expect(data.content.at(-1)).toMatchObject({ type: "text" });
    expect(response.headers.get("x-tollgate-changes")).toContain("tool-names");
    expectFitting(2, max);
  });

  test.each([false, true])("a client of Responses, streamed: %p", async (stream) => {
    const tools = [{ type: "function" as const, name, parameters, strict: false }];
    const body = { model, input: [user], tools };
    const { responses } = openai();
    const first = await (stream ? responses.stream(body).finalResponse() : responses.create(body));
    const call = first.output.flatMap((item) => (item.type === "function_call" ? [item] : []))[0];
    expect(call?.name).toBe(name);
    const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "42" };
    const next = { model, input: [output], tools, previous_response_id: first.id };
    const { data, response } = await responses.create(next).withResponse();
    expect(data.output_text).toContain("42");
    expect(response.headers.get("x-tollgate-changes")).toContain("tool-names");
    expectFitting(2, max);
  });
});

test("names that fit keep their bytes", async () => {
  const tools = [{ type: "function" as const, function: { name: "x".repeat(64), parameters } }];
  const body = { model: "openai/gpt-4o-mini", messages: [{ role: "user" as const, content: "Look it up." }], tools };
  const { response } = await openai().chat.completions.create(body).withResponse();
  expect(response.headers.get("x-tollgate-changes")).toBeNull();
});
