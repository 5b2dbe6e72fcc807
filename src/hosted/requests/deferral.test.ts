import { expect, test } from "bun:test";
import { type JsonObject, objectsOf } from "../../core/index.ts";
import type { HostedDialect, SearchTool } from "./asked-tools.ts";
import { LoopRequest } from "./loop-request.ts";

const schema = { type: "object", properties: {} };
const seal = { open: () => undefined, seal: (text: string) => text };
const byType: Readonly<Record<HostedDialect, string>> = {
  chat: "tool_search",
  messages: "tool_search_tool_bm25_20251119",
  responses: "tool_search",
};

interface Given {
  tools: readonly JsonObject[];
  searcher: "gateway" | "provider" | "left";
  more?: JsonObject;
  keepsNative?: boolean;
}

function requestIn(dialect: HostedDialect, { tools, searcher, more, keepsNative = false }: Given): LoopRequest {
  const value = { type: byType[dialect], name: "tool_search_tool_bm25" };
  const search: SearchTool = { kind: "tool_search", index: 0, type: value.type, usesMax: undefined, value };
  const run = searcher === "gateway" ? [search] : [];
  const left = searcher === "left" ? [search] : [];
  const body = { model: "m", messages: [], ...more, tools: [value, ...tools] };
  return new LoopRequest(dialect, body, { run, left, servers: [], seal, keepsNative });
}

const listOf = (request: LoopRequest): JsonObject[] =>
  objectsOf(request.bodyOf({ turns: [], isLast: false, tokensLeft: undefined })["tools"]);

const fn = (name: string, more: JsonObject = {}): JsonObject => ({
  type: "function",
  name,
  parameters: schema,
  ...more,
});
const deferred = { defer_loading: true };

test("in chat a search works, too: the tools that it finds are behind the others", () => {
  const own = (name: string, more: JsonObject = {}): JsonObject => ({ type: "function", function: { name, ...more } });
  const tools = [own("plain"), { ...own("one"), ...deferred }, own("two", deferred)];
  const request = requestIn("chat", { tools, searcher: "gateway" });
  const names = (): unknown[] => listOf(request).map(({ function: each }) => (each as JsonObject)["name"]);
  expect(names()).toEqual(["tool_search", "plain"]);
  request.catalog?.loadNamed("two");
  expect([names(), listOf(request).at(-1)]).toEqual([["tool_search", "plain", "two"], own("two")]);
  const call = { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "one" } }] };
  const known = requestIn("chat", { tools, searcher: "gateway", more: { messages: [call] } });
  expect(known.catalog?.loaded).toEqual([own("one")]);
});

test.each([true, false])(
  "nothing is deferred if nobody searches, in a namespace either (own dialect: %p)",
  (keepsNative) => {
    const tools = [{ type: "namespace", name: "a", tools: [fn("one", deferred)] }, fn("two", deferred), fn("three")];
    const request = requestIn("responses", { tools, searcher: "left", keepsNative });
    expect(listOf(request)).toEqual([{ type: "namespace", name: "a", tools: [fn("one")] }, fn("two"), fn("three")]);
    expect(request.catalog).toBeUndefined();
  },
);

test("a provider that searches itself gets the tools as they are", () => {
  const tools = [{ type: "namespace", name: "a", tools: [fn("one", deferred)] }, fn("two", deferred)];
  const request = requestIn("responses", { tools, searcher: "provider", keepsNative: true });
  expect(listOf(request).slice(1)).toEqual(tools);
});

test("names that two tools have stay marked for other upstreams, and are left out for one with namespaces", () => {
  const space = (name: string, ...inner: JsonObject[]): JsonObject => ({
    type: "namespace",
    name,
    description: "",
    tools: inner,
  });
  const tools = [space("a", fn("find", deferred), fn("other", deferred)), space("b", fn("find", deferred))];
  const more = { tool_choice: { type: "function", name: "none" } };
  const marked = [space("a", fn("find", deferred)), space("b", fn("find", deferred))];
  expect(listOf(requestIn("responses", { tools, searcher: "gateway", more })).slice(1)).toEqual(marked);
  const own = requestIn("responses", { tools, searcher: "gateway", keepsNative: true });
  expect(listOf(own)).toHaveLength(1);
  own.catalog?.loadNamed("find", "b");
  own.catalog?.loadNamed("find", "c");
  own.catalog?.loadNamed("find");
  expect(listOf(own).slice(1)).toEqual([space("b", fn("find"))]);
});

test("the model is shown the namespaces that it can search", () => {
  const inner = [fn("one", deferred)];
  const tools = [
    { type: "namespace", name: "crm", description: "Customers", tools: inner },
    { type: "namespace", name: "shown", description: "Shown", tools: [fn("two")] },
    { type: "namespace", name: "long", description: "x".repeat(5_000), tools: [fn("three", deferred)] },
  ];
  const [search] = listOf(requestIn("responses", { tools, searcher: "gateway" }));
  const description = String(search?.["description"]);
  expect(description).toContain("- crm: Customers");
  expect(description).not.toContain("shown");
  expect(description.length).toBeLessThan(2_500);
});
