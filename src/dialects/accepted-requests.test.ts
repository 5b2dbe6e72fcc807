/** Requests that providers take although their documentation does not have them: they are translated, not refused. */
import { describe, expect, test } from "bun:test";
import type { Dialect, JsonObject } from "../core/index.ts";
import { translations } from "./index.ts";
import { plainTarget } from "../../test/kit/dialects/contexts.ts";

function write(from: Dialect, to: Dialect, body: JsonObject): JsonObject {
  const conversation = translations[from].readRequest({ model: "m", max_tokens: 9, ...body });
  return JSON.parse(JSON.stringify(translations[to].writeRequest(conversation, plainTarget))) as JsonObject;
}

const hello = { role: "user", content: "Hello" };
const greeting = { role: "assistant", content: "Good day." };

describe("a conversation that begins with the assistant", () => {
  test.each<[Dialect, Dialect]>([
    ["chat", "messages"],
    ["responses", "messages"],
  ])("gets an opening from %s to %s", (from, to) => {
    const turns = [greeting, hello];
    const body = write(from, to, from === "responses" ? { input: turns } : { messages: turns });
    expect(body["messages"]).toEqual([{ role: "user", content: "(The assistant begins.)" }, greeting, hello]);
  });

  test.each<Dialect>(["chat", "messages"])("of Messages is unchanged toward %s", (to) => {
    expect(write("messages", to, { messages: [greeting, hello] })["messages"]).toEqual([greeting, hello]);
  });

  test("needs more than that toward Messages", () => {
    expect(() => write("chat", "messages", { messages: [{ role: "system", content: "A" }] })).toThrow("messages:");
  });
});

describe("a chat request", () => {
  const fn = { name: "f", parameters: { type: "object", properties: {} } };

  test("may name a function without a type", () => {
    const body = { messages: [hello], tools: [{ function: fn }], tool_choice: { function: { name: "f" } } };
    expect(write("chat", "responses", body)).toMatchObject({
      tools: [{ type: "function", name: "f" }],
      tool_choice: { type: "function", name: "f" },
    });
  });

  test("may have the address of an image alone", () => {
    const content = [{ type: "image_url", image_url: "https://x.test/a.png" }];
    expect(write("chat", "messages", { messages: [{ role: "user", content }] })["messages"]).toEqual([
      { role: "user", content: [{ type: "image", source: { type: "url", url: "https://x.test/a.png" } }] },
    ]);
    const bad = [{ role: "user", content: [{ type: "image_url", image_url: "nowhere" }] }];
    expect(() => write("chat", "messages", { messages: bad })).toThrow("messages.0.content.0.image_url:");
  });

  test.each<Dialect>(["chat", "responses"])("may have a schema without a name, toward %s", (to) => {
    const schema = { type: "object", properties: {} };
    const format = { type: "json_schema", json_schema: { schema } };
    expect(JSON.stringify(write("chat", to, { messages: [hello], response_format: format }))).toContain(
      '"name":"answer"',
    );
    const text = { format: { type: "json_schema", schema } };
    expect(JSON.stringify(write("responses", to, { input: "hi", text }))).toContain('"name":"answer"');
  });

  test("keeps Groq's default effort for an upstream of its dialect", () => {
    const body = { messages: [hello], reasoning_effort: "default" };
    expect(write("chat", "chat", body)["reasoning_effort"]).toBe("default");
    expect(write("chat", "responses", body)).not.toHaveProperty("reasoning");
    expect(write("chat", "messages", body)).not.toHaveProperty("thinking");
    expect(() => write("chat", "chat", { ...body, reasoning_effort: "very" })).toThrow("reasoning_effort:");
  });
});

test("a service tier has the upstream's own name, but for a client of its dialect", () => {
  const target = { ...plainTarget, tierNames: { default: "on_demand" } };
  const written = (from: Dialect, tier: string) => {
    const body = { model: "m", max_tokens: 9, messages: [hello], service_tier: tier };
    return translations.chat.writeRequest(translations[from].readRequest(body), target)["service_tier"];
  };
  expect(written("messages", "standard_only")).toBe("on_demand");
  expect(written("messages", "auto")).toBe("auto");
  expect(written("chat", "default")).toBe("default");
});

describe("an id that several calls have", () => {
  const call = (said: string) => ({ id: "call_0", type: "function", function: { name: "f", arguments: said } });
  const result = (content: string) => ({ role: "tool", tool_call_id: "call_0", content });
  const asks = (...tool_calls: JsonObject[]) => ({ role: "assistant", content: null, tool_calls });

  const history = [
    hello,
    asks(call('{"x":1}')),
    result("one"),
    asks(call('{"x":2}'), call('{"x":3}')),
    result("two"),
    result("three"),
  ];

  test("is kept toward chat", () => {
    const ids = JSON.stringify(write("chat", "chat", { messages: history })).match(/"call_0[^"]*"/g);
    expect(new Set(ids)).toEqual(new Set(['"call_0"']));
  });

  test("is one for each toward Messages, with the right results", () => {
    const messages = write("chat", "messages", { messages: history })["messages"] as { content: JsonObject[] }[];
    expect(messages.slice(1).flatMap(({ content }) => content)).toMatchObject([
      { id: "call_0", input: { x: 1 } },
      { tool_use_id: "call_0", content: "one" },
      { id: "call_0_2", input: { x: 2 } },
      { id: "call_0_3", input: { x: 3 } },
      { tool_use_id: "call_0_2", content: "two" },
      { tool_use_id: "call_0_3", content: "three" },
    ]);
  });

  test("is one for each toward Responses, also if an earlier call had no result", () => {
    const broken = [hello, asks(call('{"x":1}')), hello, asks(call('{"x":2}')), result("two")];
    expect(write("chat", "responses", { messages: broken })["input"]).toMatchObject([
      hello,
      { call_id: "call_0", arguments: '{"x":1}' },
      hello,
      { call_id: "call_0_2", arguments: '{"x":2}' },
      { call_id: "call_0_2", output: "two" },
    ]);
  });

  test("never becomes the id of another call", () => {
    const other = { ...call("{}"), id: "call_0_2" };
    const input = write("chat", "responses", { messages: [hello, asks(other, call("{}"), call("{}"))] })["input"];
    expect((input as JsonObject[]).slice(1).map(({ call_id: id }) => id)).toEqual(["call_0_2", "call_0", "call_0_3"]);
  });
});

describe("blocks of Messages about tools and the history", () => {
  const tool = (name: string, more: JsonObject = {}) => ({ name, input_schema: { type: "object" }, ...more });
  const use = { role: "assistant", content: [{ type: "tool_use", id: "c", name: "search", input: {} }] };
  const found = (...content: JsonObject[]) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c", content }],
  });
  const reference = { type: "tool_reference", tool_name: "refund" };

  test.each<[Dialect, string]>([
    ["chat", "messages"],
    ["responses", "input"],
  ])("a reference to a tool is a text toward %s", (to, member) => {
    const body = { messages: [hello, use, found(reference)], tools: [tool("search"), tool("refund")] };
    const turns = write("messages", to, body)[member] as JsonObject[];
    expect(Object.values(turns.at(-1) ?? {})).toContain("The tool refund can be used.");
    expect(JSON.stringify(write("messages", "messages", body))).toContain(JSON.stringify(reference));
  });

  const change = (type: string, changed: JsonObject) => ({ role: "system", content: [{ type, tool: changed }] });
  const refund = { type: "tool_reference", name: "refund" };
  const namesIn = (body: JsonObject) =>
    (body["tools"] as { function: { name: string } }[]).map((one) => one.function.name);

  test("a tool that is added is announced, and one that is defined there is declared", () => {
    const messages = [
      hello,
      change("tool_addition", refund),
      change("tool_addition", { type: "tool_definition", definition: tool("late", { description: "Late" }) }),
      change("tool_removal", { type: "tool_reference", name: "old" }),
    ];
    const body = { messages, tools: [tool("refund"), tool("old")] };
    const written = write("messages", "chat", body);
    expect(written["messages"]).toEqual([
      hello,
      { role: "system", content: "The tool refund can be used from now on." },
      { role: "system", content: "The tool late can be used from now on." },
      { role: "system", content: "The tool old can no longer be used." },
    ]);
    expect(namesIn(written)).toEqual(["refund", "late"]);
    expect(write("messages", "messages", body)).toMatchObject({ tools: body.tools });
    expect(JSON.stringify(write("messages", "messages", body))).toContain('"tool_definition"');
  });

  const compaction = { type: "compaction", content: "They greeted.", encrypted_content: null };

  test.each<Dialect>(["chat", "responses"])("a compaction stands for what was before it, toward %s", (to) => {
    const compacted = { role: "assistant", content: [compaction, { type: "text", text: "And now?" }] };
    const body = write("messages", to, { system: "Be kind.", messages: [hello, greeting, hello, compacted, hello] });
    const turns = body["messages"] ?? body["input"];
    const rest = [
      { role: "user", content: "Summary of the conversation so far:\n\nThey greeted." },
      { role: "assistant", content: "And now?" },
      hello,
    ];
    const prompt = { role: "system", content: "Be kind." };
    expect(turns).toMatchObject([prompt, ...rest]);
    expect(turns).toHaveLength(4);
  });

  test("a compaction that has failed changes nothing", () => {
    const failed = {
      role: "assistant",
      content: [
        { ...compaction, content: null },
        { type: "text", text: "And now?" },
      ],
    };
    expect(write("messages", "chat", { messages: [hello, failed, hello] })["messages"]).toEqual([
      hello,
      { role: "assistant", content: "And now?" },
      hello,
    ]);
  });
});
