/** Deferred tools, and searches that clients run themselves, toward upstreams that know neither. */
import { describe, expect, test } from "bun:test";
import { chatUpstream, clientOf } from "../../../../test/kit/dialects/contexts.ts";
import { type JsonObject, objectsOf, parseObject } from "../../../core/index.ts";
import { chatTranslation } from "../../chat/index.ts";
import { geminiTranslation } from "../../gemini/index.ts";
import { messagesTranslation } from "../../messages/index.ts";
import { responsesTranslation } from "../../responses/index.ts";
import { type DialectTranslation, eventsOfAnswer } from "../index.ts";
import { restoringTools, substituteTools } from "./substitute-tools.ts";
import { withToolsInEffect } from "./tools-in-effect.ts";

const target = { model: "m", origin: "other", outputTokensMax: 1_000 };

function translated(body: JsonObject, from: DialectTranslation) {
  const asked = { model: "m", max_tokens: 10, ...body };
  const { conversation, restore } = substituteTools(withToolsInEffect(from.readRequest(asked)), () => false);
  const client = restoringTools(from, restore ?? new Map());
  const chat = JSON.parse(JSON.stringify(chatTranslation.writeRequest(conversation, target))) as JsonObject;
  return { chat, client, context: clientOf(asked) };
}

const functionsOf = (chat: JsonObject): JsonObject[] =>
  objectsOf(chat["tools"]).map((tool) => tool["function"] as JsonObject);
const namesOf = (chat: JsonObject): unknown[] => functionsOf(chat).map(({ name }) => name);

const hello = { role: "user", content: "hello" };
const schema = { type: "object", properties: {} };

describe("in Responses", () => {
  const fn = (name: string, more: JsonObject = {}): JsonObject => ({
    type: "function",
    name,
    parameters: schema,
    ...more,
  });
  const deferred = (name: string): JsonObject => fn(name, { defer_loading: true });
  const space = (name: string, ...tools: JsonObject[]): JsonObject => ({
    type: "namespace",
    name,
    description: name,
    tools,
  });
  const search = {
    type: "tool_search",
    execution: "client",
    description: "Finds tools.",
    parameters: { type: "object", properties: { query: { type: "string" }, limit: { type: "number" } } },
  };
  const asks = {
    type: "tool_search_call",
    execution: "client",
    call_id: "s1",
    status: "completed",
    arguments: { query: "notes" },
  };
  const found = (...tools: JsonObject[]): JsonObject => ({
    type: "tool_search_output",
    execution: "client",
    call_id: "s1",
    status: "completed",
    tools,
  });

  test("the client's search is a function with its own schema", () => {
    const { chat } = translated({ input: [hello], tools: [fn("read"), search] }, responsesTranslation);
    expect(functionsOf(chat)[1]).toEqual({
      name: "tool_search",
      description: "Finds tools.",
      parameters: search.parameters,
    });
  });

  test("a call of it is the client's item, whole and streamed", () => {
    const { client, context } = translated({ input: [hello], tools: [search] }, responsesTranslation);
    const calls = [{ id: "call_1", type: "function", function: { name: "tool_search", arguments: '{"query":"q"}' } }];
    const message = { role: "assistant", content: null, tool_calls: calls };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    const answer = chatTranslation.readAnswer({ id: "x", model: "m", choices }, chatUpstream);
    const item = {
      id: "tsc_call_1",
      type: "tool_search_call",
      call_id: "call_1",
      status: "completed",
      execution: "client",
      arguments: { query: "q" },
    };
    expect(parseObject(client.writeAnswer(answer, context))?.["output"]).toEqual([item]);
    const writer = client.streamWriter(context);
    const text = [...eventsOfAnswer(answer)].map((event) => writer.write(event)).join("");
    const done = text.split("\n").find((line) => line.includes('"response.output_item.done"')) ?? "";
    expect(parseObject(done.replace(/^data: /, ""))?.["item"]).toEqual(item);
  });

  test("what it has found can be called, also in namespaces; definitions come from its result alone", () => {
    const input = [
      hello,
      asks,
      found(space("a", deferred("search"), deferred("note")), space("b", deferred("search"))),
    ];
    const { chat, client, context } = translated({ input, tools: [fn("read"), search] }, responsesTranslation);
    expect(namesOf(chat)).toEqual(["read", "tool_search", "a__search", "note", "b__search"]);
    const [, asked, told] = objectsOf(chat["messages"]);
    expect(asked).toMatchObject({
      tool_calls: [{ id: "s1", function: { name: "tool_search", arguments: '{"query":"notes"}' } }],
    });
    const text = 'These tools can be called now: "a__search", "note", "b__search".';
    expect(told).toMatchObject({ role: "tool", tool_call_id: "s1", content: text });
    const calls = [{ id: "c", type: "function", function: { name: "b__search", arguments: "{}" } }];
    const choices = [
      { index: 0, message: { role: "assistant", content: null, tool_calls: calls }, finish_reason: "tool_calls" },
    ];
    const answer = chatTranslation.readAnswer({ id: "x", model: "m", choices }, chatUpstream);
    const [call] = objectsOf(parseObject(client.writeAnswer(answer, context))?.["output"]);
    expect(call).toMatchObject({ type: "function_call", name: "search", namespace: "b" });
  });

  test("a tool is loaded once, however often it is found", () => {
    const again = [
      { ...asks, call_id: "s2" },
      { ...found(deferred("note")), call_id: "s2" },
    ];
    const input = [hello, asks, found(deferred("note")), ...again];
    const tools = [fn("read"), search, deferred("note"), deferred("__proto__")];
    expect(namesOf(translated({ input, tools }, responsesTranslation).chat)).toEqual(["read", "tool_search", "note"]);
  });

  test("deferred tools are hidden until they are loaded or called, in the order of that", () => {
    const tools = [deferred("one"), fn("read"), space("a", deferred("two"), fn("three")), deferred("four")];
    const names = (...input: JsonObject[]) =>
      namesOf(translated({ input: [hello, ...input], tools }, responsesTranslation).chat);
    expect(names()).toEqual(["read", "three"]);
    const called = { type: "function_call", call_id: "c", name: "four", arguments: "{}" };
    const result = { type: "function_call_output", call_id: "c", output: "ok" };
    const server = { ...found(space("a", deferred("two"))), execution: "server", call_id: null };
    expect(names(called, result, server)).toEqual(["read", "three", "four", "two"]);
  });

  test("in a list of deferred tools alone, all are shown", () => {
    const tools = [deferred("one"), { type: "tool_search" }, deferred("two")];
    const conversation = withToolsInEffect(responsesTranslation.readRequest({ model: "m", input: "hello", tools }));
    expect(conversation.tools.flatMap((tool) => (tool.kind === "native" ? [] : [tool.name]))).toEqual(["one", "two"]);
  });

  test("results of a search may contain other things than functions, which are not offered", () => {
    const input = [hello, asks, found({ type: "mcp", server_label: "x" }, deferred("note"))];
    expect(namesOf(translated({ input, tools: [search] }, responsesTranslation).chat)).toEqual(["tool_search", "note"]);
  });
});

describe("in Messages", () => {
  const tool = (name: string, more: JsonObject = {}): JsonObject => ({ name, input_schema: schema, ...more });
  const deferred = (name: string): JsonObject => tool(name, { defer_loading: true });
  const reference = (name: string): JsonObject => ({ type: "tool_reference", tool_name: name });
  const names = (messages: JsonObject[], tools: JsonObject[]) =>
    namesOf(translated({ messages, tools }, messagesTranslation).chat);
  const uses = (name: string): JsonObject => ({
    role: "assistant",
    content: [{ type: "tool_use", id: "c", name, input: {} }],
  });
  const told = (...content: JsonObject[]): JsonObject => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c", content }],
  });

  test("deferred tools are hidden until the client's search has found them, and stand behind the others then", () => {
    const tools = [deferred("one"), tool("search"), deferred("two"), deferred("three")];
    expect(names([hello], tools)).toEqual(["search"]);
    const history = [hello, uses("search"), told(reference("three"), reference("one"), reference("unknown"))];
    expect(names(history, tools)).toEqual(["search", "three", "one"]);
  });

  test("so they are until a provider's search has found them", () => {
    const result = { type: "tool_search_tool_search_result", tool_references: [reference("two")] };
    const blocks = [
      { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_bm25", input: { query: "q" } },
      { type: "tool_search_tool_result", tool_use_id: "srvtoolu_1", content: result },
      { type: "text", text: "Found." },
    ];
    const tools = [tool("read"), deferred("one"), deferred("two")];
    expect(names([hello, { role: "assistant", content: blocks }, hello], tools)).toEqual(["read", "two"]);
  });

  test("a call and an addition load them, a removal hides them", () => {
    const change = (type: string, name: string): JsonObject => ({
      role: "system",
      content: [{ type, tool: { type: "tool_reference", name } }],
    });
    const tools = [tool("read"), deferred("one"), deferred("two")];
    const called = [hello, uses("one"), told({ type: "text", text: "ok" })];
    expect(names(called, tools)).toEqual(["read", "one"]);
    expect(names([hello, change("tool_addition", "two")], tools)).toEqual(["read", "two"]);
    expect(names([...called, change("tool_removal", "one")], tools)).toEqual(["read"]);
  });

  test("a reference never replaces a tool that is shown, and a list of deferred tools alone is shown", () => {
    const twice = [tool("one", { description: "shown" }), { ...deferred("one"), description: "other" }];
    const history = [hello, uses("one"), told(reference("one"))];
    const { chat } = translated({ messages: history, tools: twice }, messagesTranslation);
    expect(functionsOf(chat).map(({ description }) => description)).toEqual(["shown"]);
    expect(names([hello], [deferred("one"), deferred("two")])).toEqual(["one", "two"]);
  });

  test("members that only Anthropic knows never reach Google", () => {
    const tools = [tool("read", { defer_loading: false, eager_input_streaming: true })];
    const conversation = messagesTranslation.readRequest({ model: "m", max_tokens: 10, messages: [hello], tools });
    const { tools: written } = geminiTranslation.writeRequest(conversation, target);
    expect(written).toEqual([{ functionDeclarations: [{ name: "read", parametersJsonSchema: schema }] }]);
  });

  test("upstreams of Messages get them as they are", () => {
    const tools = [tool("read"), deferred("one")];
    const body = { model: "m", max_tokens: 10, messages: [hello], tools };
    expect(messagesTranslation.writeRequest(messagesTranslation.readRequest(body), target)["tools"]).toEqual(tools);
  });
});
