/** Tools that a request defers, for a model that knows chat alone: the gateway's search finds them, in the makers' own items and blocks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type JsonObject, objectsOf } from "../../src/core/index.ts";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer, type ModelRequest } from "./hosted-scene.ts";

const definition = (name: string, description: string) => ({
  name,
  description,
  inputSchema: { type: "object", properties: { city: { type: "string" } } },
});

let server: TestServer;
beforeAll(() => {
  server = startTestServer({
    era: "2026",
    tools: [definition("weather", "The weather of a city"), definition("mayor", "Who governs a city")],
    call: ({ name }) => textResult(`${String(name)} was asked`),
  });
});
afterAll(() => server.stop());

const at = hostedScene(() => ({ mcp: { servers: { cities: { url: server.url } } } }));

const openai = ({ rig, caller }: HostedScene): OpenAI =>
  new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token, maxRetries: 0 });
const anthropic = ({ rig, caller }: HostedScene): Anthropic =>
  new Anthropic({ baseURL: rig.gateway.url, apiKey: caller.token, maxRetries: 0 });

const calls = (name: string, args: JsonObject = {}): ModelAnswer => ({ calls: [{ name, args }] });
const searches = (query: string): ModelAnswer => calls("tool_search", { query });
const done: ModelAnswer = { text: "Done." };

const namesIn = ({ tools = [] }: ModelRequest): string[] => tools.map(({ function: { name } }) => name);
const namesOf = ({ asked }: HostedScene): string[][] => asked.map(namesIn);
const lastResult = ({ asked }: HostedScene): unknown => asked.at(-1)?.messages.at(-1)?.content;

/** Each round begins as the one before, its tools too. */
function expectGrowing({ asked }: HostedScene): void {
  for (const [index, { messages, tools = [] }] of asked.entries()) {
    const before = asked[index - 1];
    if (before === undefined) continue;
    expect(JSON.stringify(messages.slice(0, before.messages.length))).toBe(JSON.stringify(before.messages));
    expect(JSON.stringify(tools.slice(0, before.tools?.length))).toBe(JSON.stringify(before.tools));
  }
}

describe("in Responses", () => {
  /** OpenAI's own answer to such a request, whose tools are echoed. */
  const recorded = JSON.parse(
    readFileSync(join(import.meta.dir, "../recordings/answers/946.json"), "utf8"),
  ) as OpenAI.Responses.Response;
  const { tools } = recorded;
  const ask = { model, input: "What are 7 dollars in euros?", tools } as const;
  const rate = { from_currency: "USD", to_currency: "EUR" };

  function twoRounds(scene: HostedScene): void {
    scene.answers(searches("currencies"), calls("get_exchange_rate", rate));
  }

  const shapeOf = (value: object): string[] => Object.keys(value).toSorted();

  test("the items are those of OpenAI's own, whole and streamed", async () => {
    const scene = at();
    twoRounds(scene);
    const whole = await openai(scene).responses.create(ask);
    expect(whole.output.map(shapeOf)).toEqual(recorded.output.map(shapeOf));
    const [call, output, made] = whole.output;
    expect(call).toMatchObject({
      execution: "server",
      call_id: null,
      status: "completed",
      arguments: { query: "currencies" },
    });
    const [, space] = objectsOf(tools);
    const [, exchange] = objectsOf(space?.["tools"]);
    expect(output).toMatchObject({
      type: "tool_search_output",
      execution: "server",
      tools: [{ type: "namespace", name: "tools", description: space?.["description"], tools: [exchange] }],
    });
    expect(made).toMatchObject({
      type: "function_call",
      name: "get_exchange_rate",
      namespace: "tools",
      arguments: JSON.stringify(rate),
    });
    expect(namesOf(scene)).toEqual([
      ["tool_search", "get_weather"],
      ["tool_search", "get_weather", "get_exchange_rate"],
    ]);
    expectGrowing(scene);
    expect(whole.tools).toEqual(tools);
    twoRounds(scene);
    const stream = openai(scene).responses.stream(ask);
    const names: string[] = [];
    for await (const { type } of stream) names.push(type.replace("response.", ""));
    const item = ["output_item.added", "output_item.done"] as const;
    const called = ["function_call_arguments.delta", "function_call_arguments.done"];
    expect(names).toEqual(["created", "in_progress", ...item, ...item, item[0], ...called, item[1], "completed"]);
    const plain = (value: unknown): string =>
      JSON.stringify(value).replaceAll(/_0[a-z0-9]{24}|call_\d+|,"parsed_arguments":null/g, "");
    expect(plain((await stream.finalResponse()).output)).toBe(plain(whole.output));
  });

  test("a later request knows what was found, by the response's id and by the whole history, from its beginning", async () => {
    const scene = at();
    twoRounds(scene);
    const first = await openai(scene).responses.create(ask);
    const [before] = scene.asked.slice(-1);
    const made = first.output.at(-1);
    if (made?.type !== "function_call") throw new Error("no call");
    const result = { type: "function_call_output" as const, call_id: made.call_id, output: "0.9" };
    scene.answers(done);
    await openai(scene).responses.create({ ...ask, input: [result], previous_response_id: first.id });
    const [continued] = scene.asked;
    scene.answers(done);
    const history = [
      { role: "user" as const, content: ask.input },
      ...(first.output as OpenAI.Responses.ResponseInput),
      result,
    ];
    await openai(scene).responses.create({ ...ask, input: history, store: false });
    const [whole] = scene.asked;
    expect(whole?.messages).toEqual(continued?.messages as never);
    expect(whole?.tools).toEqual(before?.tools as never);
    const told = whole?.messages.map(({ role, content, tool_calls: list }) => [
      role,
      list?.[0]?.function.name ?? content,
    ]);
    expect(told).toEqual([
      ["user", ask.input],
      ["assistant", "tool_search"],
      ["tool", before?.messages.at(-1)?.content ?? ""],
      ["assistant", "get_exchange_rate"],
      ["tool", "0.9"],
    ]);
    // A request without the search, too.
    scene.answers(done);
    await openai(scene).responses.create({ ...ask, tools: tools.slice(1), input: history, store: false });
    expect(namesOf(scene)).toEqual([["get_weather", "get_exchange_rate"]]);
  });

  const fn = (name: string, more: object = {}): OpenAI.Responses.FunctionTool => ({
    type: "function",
    name,
    parameters: { type: "object", properties: {} },
    strict: false,
    ...more,
  });
  const deferred = (name: string, description = "") => fn(name, { defer_loading: true, description });
  const search = { type: "tool_search" } as const;
  const space = (name: string, ...inner: object[]) =>
    ({ type: "namespace", name, description: name, tools: inner }) as never;

  test("two namespaces may have one name, and none of ours gets a caller's call", async () => {
    const scene = at();
    const asked = [
      search,
      space("crm", deferred("find", "customers"), deferred("tool_search", "old customers")),
      space("shop", deferred("find", "orders")),
      fn("plain"),
    ];
    scene.answers(searches("orders"), searches("customers"), {
      calls: ["crm__find", "shop__find", "crm__tool_search"].map((name) => ({ name, args: {} })),
    });
    const { output } = await openai(scene).responses.create({ model, input: "Hi", tools: asked });
    const made = output.flatMap((item) => (item.type === "function_call" ? [[item.namespace, item.name]] : []));
    expect(made).toEqual([
      ["crm", "find"],
      ["shop", "find"],
      ["crm", "tool_search"],
    ]);
    expectGrowing(scene);
    expect(namesOf(scene).at(-1)).toEqual(["tool_search", "plain", "shop__find", "crm__find", "crm__tool_search"]);
  });

  test("free text, names of objects' own, a choice and a call with the client's are all served", async () => {
    const scene = at();
    const free = { type: "custom" as const, name: "note", description: "writes a memo", defer_loading: true };
    const asked = [
      search,
      free,
      deferred("__proto__", "a prototype"),
      deferred("chosen"),
      fn("tool_search_2"),
      fn("plain"),
    ];
    const rounds: ModelAnswer = {
      calls: [
        { name: "tool_search", args: { query: "memo prototype" } },
        { name: "plain", args: {} },
      ],
    };
    scene.answers(rounds);
    const choice = { type: "function" as const, name: "chosen" };
    const first = await openai(scene).responses.create({ model, input: "Hi", tools: asked, tool_choice: choice });
    expect(first.output.map(({ type }) => type)).toEqual(["tool_search_call", "tool_search_output", "function_call"]);
    expect(namesOf(scene)).toEqual([["tool_search", "tool_search_2", "plain", "chosen"]]);
    const plain = first.output.at(-1);
    const result = {
      type: "function_call_output" as const,
      call_id: plain?.type === "function_call" ? plain.call_id : "",
      output: "ok",
    };
    scene.answers({ calls: [{ name: "note", args: { input: "hello" } }] });
    const next = await openai(scene).responses.create({
      model,
      input: [result],
      tools: asked,
      previous_response_id: first.id,
    });
    expect(next.output.at(-1)).toMatchObject({ type: "custom_tool_call", name: "note", input: "hello" });
    expect(new Set(namesOf(scene)[0])).toEqual(new Set(["tool_search", "tool_search_2", "plain", "note", "__proto__"]));
  });

  test("tools of a server are found and run, and never those of another caller's request", async () => {
    const scene = at();
    const mcp = {
      type: "mcp" as const,
      server_label: "cities",
      require_approval: "never" as const,
      defer_loading: true,
    };
    scene.answers(searches("governs"), calls("mayor"), done);
    const first = await openai(scene).responses.create({ model, input: "Hi", tools: [search, mcp] });
    expect(first.output.map(({ type }) => type)).toEqual([
      "mcp_list_tools",
      "tool_search_call",
      "tool_search_output",
      "mcp_call",
      "message",
    ]);
    expect(first.output[2]).toMatchObject({
      tools: [{ type: "mcp", server_label: "cities", allowed_tools: ["mayor"] }],
    });
    expect(namesOf(scene)).toEqual([["tool_search"], ["tool_search", "mayor"], ["tool_search", "mayor"]]);
    scene.answers(calls("weather"), done);
    const next = { model, input: "And?", tools: [search, mcp], previous_response_id: first.id };
    const { output } = await openai(scene).responses.create(next);
    expect(namesOf(scene)[0]).toEqual(["tool_search", "mayor"]);
    expect(output.at(-1)?.type).toBe("message");
    scene.answers(searches("governs a city"), done);
    const other = await scene.rig.caller();
    const client = new OpenAI({ baseURL: `${scene.rig.gateway.url}/v1`, apiKey: other.token, maxRetries: 0 });
    await client.responses.create({ model, input: "Hi", tools: [search, deferred("x", "city limits")] });
    expect(namesOf(scene).at(-1)).toEqual(["tool_search", "x"]);
  });

  test("a search that never ends is ended, and the client's tools can be called until then", async () => {
    const scene = at();
    scene.answers((request) => (request.tool_choice === "none" ? done : searches("alpha")));
    const { output } = await openai(scene).responses.create({
      model,
      input: "Hi",
      tools: [search, deferred("alpha", "alpha")],
    });
    expect(output.at(-1)?.type).toBe("message");
    const made = output.filter(({ type }) => type === "tool_search_call");
    expect([made.length, scene.asked.length]).toEqual([20, 21]);
    expect(made.map((item) => "status" in item && item.status).filter((status) => status === "completed")).toHaveLength(
      10,
    );
  });

  test("ten thousand deferred tools hold up nobody", async () => {
    const scene = at();
    // A body has 65,536 keys at most.
    const many = Array.from({ length: 10_000 }, (_each, index) => ({
      type: "function",
      name: `tool_${index}`,
      description: "Does some work",
      defer_loading: true,
    }));
    scene.answers(searches("tool 9999"), calls("tool_9999"));
    const { output } = await openai(scene).responses.create({ model, input: "Hi", tools: [search, ...many] as never });
    expect(output.at(-1)).toMatchObject({ type: "function_call", name: "tool_9999" });
    expect(namesOf(scene)[1]?.[1]).toBe("tool_9999");
    const more = [search, ...many, deferred("one_more")];
    const refused = await scene.post("/v1/responses", { input: "Hi", tools: more });
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain("10000 are permitted");
  });
});

describe("in Messages", () => {
  const tool = (name: string, description: string, more: object = {}): Anthropic.Tool => ({
    name,
    description,
    input_schema: { type: "object", properties: { city: { type: "string" } } },
    ...more,
  });
  const deferred = (name: string, description: string) => tool(name, description, { defer_loading: true });
  const byWords = { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" } as const;
  const byPattern = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" } as const;
  const ask = {
    model,
    max_tokens: 1_000,
    messages: [{ role: "user" as const, content: "What are 7 dollars in euros?" }],
    tools: [
      byWords,
      byPattern,
      tool("read", "Reads"),
      deferred("get_rate", "The exchange rate of currencies"),
      deferred("other", "Others"),
    ],
  };
  const input = { city: "Ulm" };

  function rounds(scene: HostedScene): void {
    scene.answers(
      { text: "Let me look.", ...calls("tool_search_tool_bm25", { query: "exchange rate" }) },
      calls("get_rate", input),
    );
  }

  test("the blocks are those of Anthropic's own, whole and streamed", async () => {
    const scene = at();
    rounds(scene);
    const whole = await anthropic(scene).messages.create(ask);
    expect(whole.content.map(({ type }) => type)).toEqual([
      "text",
      "server_tool_use",
      "tool_search_tool_result",
      "tool_use",
    ]);
    const [, used, result, made] = whole.content;
    expect(used).toMatchObject({ name: "tool_search_tool_bm25", input: { query: "exchange rate" } });
    expect(result).toEqual({
      type: "tool_search_tool_result",
      tool_use_id: used?.type === "server_tool_use" ? used.id : "",
      content: {
        type: "tool_search_tool_search_result",
        tool_references: [{ type: "tool_reference", tool_name: "get_rate" }],
      },
    } as never);
    expect(made).toMatchObject({ type: "tool_use", name: "get_rate", input });
    expect(whole.stop_reason).toBe("tool_use");
    expect(namesOf(scene)).toEqual([
      ["tool_search_tool_bm25", "tool_search_tool_regex", "read"],
      ["tool_search_tool_bm25", "tool_search_tool_regex", "read", "get_rate"],
    ]);
    expectGrowing(scene);
    rounds(scene);
    const streamed = await anthropic(scene).messages.stream(ask).finalMessage();
    const plain = (value: unknown): string => JSON.stringify(value).replaceAll(/_0[a-z0-9]{24}|call_\d+/g, "");
    expect(plain(streamed.content)).toBe(plain(whole.content));
  });

  test("a history that another provider's search has made loads its tools from the beginning", async () => {
    const scene = at();
    rounds(scene);
    const first = await anthropic(scene).messages.create(ask);
    const [before] = scene.asked.slice(-1);
    const [made] = first.content.slice(-1);
    const result = {
      type: "tool_result" as const,
      tool_use_id: made?.type === "tool_use" ? made.id : "",
      content: "0.9",
    };
    scene.answers(done);
    const content = first.content as Anthropic.ContentBlockParam[];
    const messages = [
      ...ask.messages,
      { role: "assistant" as const, content },
      { role: "user" as const, content: [result] },
    ];
    await anthropic(scene).messages.create({ ...ask, messages });
    expect(scene.asked[0]?.tools).toEqual(before?.tools as never);
    const texts = (request: ModelRequest | undefined) => request?.messages.map(({ content: text }) => text);
    expect(texts(scene.asked[0])?.slice(0, 3)).toEqual(texts(before) as never);
    scene.answers(done);
    const foreign = JSON.parse(
      JSON.stringify(messages).replaceAll(/srvtoolu_\w+/g, "srvtoolu_01S5swZdBmTzLDVzwcT5LbHp"),
    ) as typeof messages;
    await anthropic(scene).messages.create({ ...ask, messages: foreign });
    expect(namesOf(scene)).toEqual([["tool_search_tool_bm25", "tool_search_tool_regex", "read", "get_rate"]]);
  });

  test("patterns find tools, and one that is none is the dialect's own error", async () => {
    const scene = at();
    const pattern = (text: string): ModelAnswer => calls("tool_search_tool_regex", { pattern: text });
    scene.answers(pattern("(?=get)"), pattern("(?i)GET_.*"), done);
    const { content } = await anthropic(scene).messages.create(ask);
    const results = content.flatMap((block) => (block.type === "tool_search_tool_result" ? [block.content] : []));
    const references = [{ type: "tool_reference", tool_name: "get_rate" }];
    const [failed, found] = results as [Anthropic.ToolSearchToolResultErrorObject, unknown];
    expect([failed.type, failed.error_code]).toEqual(["tool_search_tool_result_error", "invalid_tool_input"]);
    expect(failed.error_message).toStartWith("This is no regular expression");
    expect(found).toEqual({ type: "tool_search_tool_search_result", tool_references: references });
    const error = scene.asked[1]?.messages.at(-1)?.content;
    expect([error, lastResult(scene)]).toEqual([
      expect.stringContaining("Error: This is no regular expression"),
      'These tools can be called now: "get_rate".',
    ]);
    // The same history again: the results are those that the model had.
    const round = scene.asked.at(-1)?.messages.map(({ content: text }) => text);
    scene.answers(done);
    const messages = [
      ...ask.messages,
      { role: "assistant" as const, content: content as Anthropic.ContentBlockParam[] },
    ];
    await anthropic(scene).messages.create({ ...ask, messages: [...messages, { role: "user", content: "Go on." }] });
    expect(scene.asked[0]?.messages.slice(0, round?.length).map(({ content: text }) => text)).toEqual(round as never);
  });

  test("a search that never ends pauses, and its result begins the next answer", async () => {
    const scene = at();
    scene.answers(calls("tool_search_tool_bm25", { query: "rate" }));
    const paused = await anthropic(scene).messages.create(ask);
    expect([paused.stop_reason, scene.asked.length]).toEqual(["pause_turn", 21]);
    const open = paused.content.at(-1);
    scene.answers(calls("get_rate", input));
    const messages = [
      ...ask.messages,
      { role: "assistant" as const, content: paused.content as Anthropic.ContentBlockParam[] },
    ];
    const { content } = await anthropic(scene).messages.create({ ...ask, messages });
    expect(content.map(({ type }) => type)).toEqual(["tool_search_tool_result", "tool_use"]);
    expect(content[0]).toMatchObject({ tool_use_id: open?.type === "server_tool_use" ? open.id : "" });
    expect(namesOf(scene)[0]).toContain("get_rate");
  });

  test("deferred tools of a server are found and run", async () => {
    const scene = at();
    const url = `${scene.rig.gateway.url}/mcp/cities`;
    const toolset = {
      type: "mcp_toolset" as const,
      mcp_server_name: "cities",
      default_config: { defer_loading: true },
      configs: { weather: { defer_loading: false } },
    };
    scene.answers(calls("tool_search_tool_bm25", { query: "govern" }), calls("mayor", input), done);
    const { content } = await anthropic(scene).beta.messages.create({
      ...ask,
      tools: [byWords, toolset],
      mcp_servers: [{ type: "url", name: "cities", url }],
      betas: ["mcp-client-2025-11-20"],
    });
    expect(content.map(({ type }) => type)).toEqual([
      "server_tool_use",
      "tool_search_tool_result",
      "mcp_tool_use",
      "mcp_tool_result",
      "text",
    ]);
    expect(namesOf(scene).slice(0, 2)).toEqual([
      ["tool_search_tool_bm25", "weather"],
      ["tool_search_tool_bm25", "weather", "mayor"],
    ]);
  });
});

test("searching costs nothing beside its rounds", async () => {
  const scene = at();
  const before = await scene.caller.closed();
  scene.answers(searches("alpha"), done);
  const alpha = { type: "function", name: "alpha", parameters: { type: "object" }, defer_loading: true };
  const answer = await scene.post("/v1/responses", { input: "Hi", tools: [{ type: "tool_search" }, alpha] });
  expect([answer.status, scene.asked.length]).toEqual([200, 2]);
  // Of ten tokens in and five out each.
  expect((await scene.caller.closed()) - before).toBe(40_000n);
});
