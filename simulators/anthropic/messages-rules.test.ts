import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import type { JsonObject } from "../shared/json.ts";
import { bodyOf, member, post, type Reply } from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const hello = { model: "claude-haiku-4-5", max_tokens: 2_048, messages: [{ role: "user", content: "hi" }] };
const versions = ["2023-06-01", "2026-10-21"];

function ask(more: JsonObject, headers: Record<string, string> = {}): Promise<Reply> {
  const url = `${simulators.providers.anthropic}/v1/messages`;
  return post(url, { ...hello, ...more }, { "anthropic-version": "2023-06-01", ...headers });
}

async function refusal(more: JsonObject, headers: Record<string, string> = {}): Promise<unknown> {
  const reply = await ask(more, headers);
  expect(reply.status, reply.text).toBe(400);
  expect(bodyOf(reply)).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  return member(bodyOf(reply), "error", "message");
}

const user = (content: unknown): JsonObject => ({ role: "user", content });
const assistant = (content: unknown): JsonObject => ({ role: "assistant", content });
const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "done" };
const tools = [{ name: "f", input_schema: { type: "object" } }];

test("the version must be known, and so must every beta name", async () => {
  const url = `${simulators.providers.anthropic}/v1/messages`;
  expect(member(bodyOf(await post(url, hello)), "error", "message")).toContain("anthropic-version");
  expect(await refusal({}, { "anthropic-version": "2024-01-01" })).toContain("not a valid version");
  for (const version of versions) expect((await ask({}, { "anthropic-version": version })).status).toBe(200);
  const good = { "anthropic-beta": "interleaved-thinking-2025-05-14, context-1m-2025-08-07,claude-code-20250219" };
  expect((await ask({}, good)).status).toBe(200);
  expect(await refusal({}, { "anthropic-beta": "made-up" })).toContain("made-up");
});

test("both kinds of keys are taken; the query of the beta surface changes nothing", async () => {
  const url = `${simulators.providers.anthropic}/v1/messages?beta=true`;
  const headers = { "anthropic-version": "2026-10-21", "x-api-key": "good-key" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(hello) });
  expect(response.status).toBe(200);
  const refused = await fetch(url, { method: "POST", headers: { ...headers, "x-api-key": "bad-key" }, body: "{}" });
  expect(refused.status).toBe(401);
});

test.each(["temperature", "top_p", "top_k"])("the newer version refuses %s", async (field) => {
  expect((await ask({ [field]: 1 })).status).toBe(200);
  expect(await refusal({ [field]: 1 }, { "anthropic-version": "2026-10-21" })).toBe(
    `${field}: Extra inputs are not permitted`,
  );
});

test("the newer version refuses documents of the assistant and citations of the user", async () => {
  const source = { type: "text", media_type: "text/plain", data: "x" };
  const said = [user("hi"), assistant([{ type: "document", source }]), user("go on")];
  const cited = [user([{ type: "text", text: "hi", citations: [{ type: "char_location" }] }])];
  const lean = { "anthropic-version": "2026-10-21" };
  for (const messages of [said, cited]) {
    expect((await ask({ messages })).status).toBe(200);
    expect(await refusal({ messages }, lean)).toStartWith("messages.");
  }
});

test.each<[what: string, body: JsonObject, message: string]>([
  ["an unknown member", { frequency_penalty: 1 }, "frequency_penalty: Extra inputs are not permitted"],
  ["no limit", { max_tokens: undefined }, "max_tokens: Field required"],
  ["no messages", { messages: [] }, "messages: "],
  [
    "an opening by the assistant",
    { messages: [assistant("hi"), user("ho")] },
    'first message must use the "user" role',
  ],
  ["an empty message", { messages: [user(""), assistant("x")] }, "messages.0: "],
  ["an empty text block", { messages: [user([{ type: "text", text: "" }])] }, "messages.0.content.0.text: "],
  ["an unknown block", { messages: [user([{ type: "video" }])] }, "messages.0.content.0.type: "],
  ["a role of another dialect", { messages: [{ role: "tool", content: "x" }] }, "messages.0.role: "],
  ["a tool choice in words", { tools, tool_choice: "auto" }, "tool_choice: "],
  ["a choice without tools", { tool_choice: { type: "any" } }, "tool_choice: "],
  ["a tool in chat's shape", { tools: [{ type: "function", function: { name: "f" } }] }, "tools.0: "],
  ["a tool without a schema", { tools: [{ name: "f" }] }, "tools.0.input_schema: Field required"],
  ["two tools of one name", { tools: [...tools, ...tools] }, "tools: "],
  ["a stop sequence of white space", { stop_sequences: [" "] }, "stop_sequences.0: "],
  ["more output than the model has", { max_tokens: 200_000 }, "max_tokens: 200000 > 64000"],
  [
    "five breakpoints",
    { system: Array.from({ length: 5 }, () => ({ type: "text", text: "x", cache_control: { type: "ephemeral" } })) },
    "cache_control: A maximum of 4 blocks",
  ],
])("refuses %s", async (_what, body, message) => {
  expect(await refusal(body)).toContain(message);
});

const image = (source: JsonObject): JsonObject => ({ messages: [user([{ type: "image", source }])] });

test.each<[what: string, source: JsonObject, message: string]>([
  ["broken base64", { type: "base64", media_type: "image/png", data: "§§§" }, "invalid base64 data"],
  ["an unknown kind", { type: "base64", media_type: "image/bmp", data: "AAAA" }, "media_type: Input should be one of"],
  ["a source of another dialect", { type: "image_url", url: "https://x" }, "messages.0.content.0.source.type: "],
  ["over 5 MB", { type: "base64", media_type: "image/png", data: "A".repeat(5_242_884) }, "image exceeds 5 MB maximum"],
])("refuses an image of %s", async (_what, source, message) => {
  expect(await refusal(image(source))).toContain(message);
});

test.each<[what: string, messages: readonly JsonObject[], message: string]>([
  ["a result without its call", [user([result])], "unexpected `tool_use_id`"],
  ["a call without its result", [user("hi"), assistant([call]), user("and?")], "without `tool_result` blocks"],
  ["a call twice", [user("hi"), assistant([call, call]), user([result])], "`tool_use` ids must be unique"],
  [
    "a result behind text",
    [user("hi"), assistant([call]), user([{ type: "text", text: "here" }, result])],
    "must come before all other content",
  ],
  ["a call by the user", [user([call])], "`tool_use` blocks can only be in `assistant` messages"],
  [
    "a result by the assistant",
    [user("hi"), assistant([result])],
    "`tool_result` blocks can only be in `user` messages",
  ],
])("refuses %s", async (_what, messages, message) => {
  expect(await refusal({ messages, tools })).toContain(message);
});

test("neighbouring messages of one role are one turn", async () => {
  const second = { ...call, id: "toolu_2" };
  const messages = [
    user("hi"),
    assistant([call]),
    assistant([second]),
    user([result]),
    user([{ ...result, tool_use_id: "toolu_2", is_error: true, content: [{ type: "text", text: "broken" }] }]),
  ];
  const text = member(bodyOf(await ask({ messages, tools })), "content", 0, "text");
  expect(text).toBe("The tool answered: done. The tool failed: broken");
});

const budget = { type: "enabled", budget_tokens: 1_024 };

test.each<[what: string, body: JsonObject, message: string]>([
  ["a budget over the limit", { max_tokens: 1_024 }, "max_tokens: "],
  ["a small budget", { thinking: { ...budget, budget_tokens: 100 } }, "thinking.budget_tokens: "],
  ["a forced tool", { tools, tool_choice: { type: "any" } }, "tool_choice: "],
  ["a temperature", { temperature: 0.5 }, "temperature: "],
])("thinking refuses %s", async (_what, body, message) => {
  expect((await ask({ thinking: budget })).status).toBe(200);
  expect(await refusal({ thinking: budget, ...body })).toContain(message);
});

test.each<[what: string, model: string, body: JsonObject, field: string]>([
  ["temperature after 4.6", "claude-opus-4-8", { temperature: 0.5 }, "temperature"],
  ["top_k after 4.6", "claude-sonnet-5", { top_k: 5 }, "top_k"],
  ["a low top_p after 4.6", "claude-sonnet-5", { top_p: 0.5 }, "top_p"],
  ["a thinking budget from 4.7", "claude-opus-4-8", { thinking: budget }, "thinking.type"],
  ["prefill from 4.6", "claude-opus-4-6", { messages: [user("hi"), assistant("You")] }, "messages"],
])("refuses %s", async (_what, model, body, field) => {
  expect((await ask(body)).status).toBe(200);
  expect(await refusal({ model, ...body })).toStartWith(`${field}: `);
});

test("requests that later models tolerate are tolerated", async () => {
  expect((await ask({ model: "claude-sonnet-5", temperature: 1, top_p: 0.99 })).status).toBe(200);
  expect((await ask({ model: "claude-opus-4-6", temperature: 0.5, thinking: { type: "disabled" } })).status).toBe(200);
});

test("server tools and their blocks are taken as they are", async () => {
  const search = [{ type: "web_search_20250305", name: "web_search", max_uses: 2 }];
  const blocks = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    { type: "text", text: "found" },
  ];
  const reply = await ask({ tools: search, messages: [user("hi"), assistant(blocks), user("more")] });
  expect(member(bodyOf(reply), "content", 0, "text")).toBe("You said: more. That is all I have to say.");
});
