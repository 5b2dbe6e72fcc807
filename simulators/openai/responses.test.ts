import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import type { JsonObject } from "../shared/json.ts";
import { bodyOf, eventsOf, get, listOf, member, post, type Reply } from "../testing/client.ts";

let simulators: Simulators;
let url: string;

beforeAll(async () => {
  simulators = await startSimulators();
  url = `${simulators.providers.openai}/responses`;
});
afterAll(() => simulators.stop());

function ask(input: unknown, more: JsonObject = {}): Promise<Reply> {
  return post(url, { model: "gpt-5-mini", input, ...more });
}

async function errorOf(input: unknown, more: JsonObject = {}, status = 400): Promise<unknown> {
  const reply = await ask(input, more);
  expect(reply.status, reply.text).toBe(status);
  return member(bodyOf(reply), "error");
}

async function idOf(reply: Promise<Reply>): Promise<string> {
  return String(member(bodyOf(await reply), "id"));
}

async function remove(id: string): Promise<Reply> {
  const response = await fetch(`${url}/${id}`, { method: "DELETE", headers: { authorization: "Bearer good-key" } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [{ type: "function", name: "get_weather", parameters }];
const user = (content: unknown): JsonObject => ({ role: "user", content });
const sealed = { reasoning: { effort: "high" }, include: ["reasoning.encrypted_content"] };

describe("a prompt with a breakpoint", () => {
  const long = (ttl?: string) => [
    user([{ type: "input_text", text: "x".repeat(8_000), prompt_cache_breakpoint: { mode: "explicit", ttl } }]),
  ];
  const details = async (input: unknown, more: JsonObject = {}) => {
    const reply = await ask(input, { model: "gpt-6-sol", ...more });
    return member(member(bodyOf(reply), "usage"), "input_tokens_details");
  };

  test("is written to a cache, by its lifetime", async () => {
    const written = { cached_tokens: 0, cache_write_tokens: 2_003 };
    const half = { ttl_30m_tokens: 2_003, ttl_12h_tokens: 0 };
    expect(await details(long("30m"))).toEqual({ ...written, cache_write_tokens_details: half });
    const twelve = { ttl_30m_tokens: 0, ttl_12h_tokens: 2_003 };
    expect(await details(long("12h"))).toEqual({ ...written, cache_write_tokens_details: twelve });
    const options = { prompt_cache_options: { mode: "explicit", ttl: "12h" } };
    expect(await details(long(), options)).toEqual({ ...written, cache_write_tokens_details: twelve });
    expect(await details(long("12h"), { model: "gpt-5-mini" })).toEqual({ cached_tokens: 0, cache_write_tokens: 0 });
    expect(await errorOf(long("24h"))).toMatchObject({ param: "prompt_cache_options.ttl" });
  });
});

test.each([
  [{ type: "shell", environment: { type: "container_auto", memory_limit: "2g" } }, "tools[0].environment.memory_limit"],
  [{ type: "code_interpreter", container: { type: "auto", memory_limit: 4 } }, "tools[0].container.memory_limit"],
])("a container has one of four sizes: %j", async (tool, param) => {
  expect(await errorOf("hi", { tools: [tool] })).toMatchObject({ param });
  const sized = JSON.parse(JSON.stringify(tool).replace(/"2g"|4/, '"64g"')) as JsonObject;
  expect((await ask("hi", { tools: [sized] })).status).toBe(200);
});

describe("stored responses", () => {
  test("a response is looked up, continued and deleted; its input is listed page by page", async () => {
    const first = await idOf(ask("hello"));
    expect(bodyOf(await get(`${url}/${first}`))).toMatchObject({ id: first, status: "completed" });
    const second = await idOf(ask("and now", { previous_response_id: first }));
    expect(member(bodyOf(await get(`${url}/${second}`)), "usage", "input_tokens")).toBeGreaterThan(15);
    const listed = await get(`${url}/${second}/input_items?limit=2`);
    expect(listOf(listed, "data").map((item) => member(item, "content", 0, "text"))).toEqual([
      "and now",
      "You said: hello. That is all I have to say.",
    ]);
    expect(bodyOf(listed)).toMatchObject({ object: "list", has_more: true });
    const after = String(member(bodyOf(listed), "last_id"));
    const rest = listOf(await get(`${url}/${second}/input_items?after=${after}`), "data");
    expect(rest.map((item) => member(item, "content", 0, "text"))).toEqual(["hello"]);
    const ascending = listOf(await get(`${url}/${second}/input_items?order=asc`), "data");
    expect(ascending.map((item) => member(item, "role"))).toEqual(["user", "assistant", "user"]);
    expect(bodyOf(await remove(first))).toEqual({ id: first, object: "response", deleted: true });
    expect([(await get(`${url}/${first}`)).status, (await remove(first)).status]).toEqual([404, 404]);
    expect(await errorOf("more", { previous_response_id: first })).toMatchObject({
      param: "previous_response_id",
      code: "previous_response_not_found",
    });
  });

  test("a streamed response is kept when its end is sent; with store false, nothing is", async () => {
    const ends = eventsOf(await ask("hello", { stream: true })).at(-1);
    const id = String(member(ends?.data, "response", "id"));
    expect((await get(`${url}/${id}`)).status).toBe(200);
    const forgotten = await idOf(ask("hello", { store: false }));
    expect((await get(`${url}/${forgotten}`)).status).toBe(404);
  });

  test("tools in namespaces and tools of free text are called as such, and their results taken", async () => {
    const close = { type: "function", name: "close", parameters: { type: "object", properties: {} } };
    const offered = [
      { type: "namespace", name: "agents", description: "d", tools: [close] },
      { type: "custom", name: "patch" },
    ];
    const asked = user('call:agents.close {}\ncall:patch "*** Begin"');
    const first = member(bodyOf(await ask([asked], { tools: offered })), "output", 0) as JsonObject;
    expect(first).toMatchObject({ type: "function_call", namespace: "agents", name: "close", arguments: "{}" });
    const closed = { type: "function_call_output", call_id: first["call_id"], output: "ok" };
    const second = member(bodyOf(await ask([asked, first, closed], { tools: offered })), "output", 0) as JsonObject;
    expect(second).toMatchObject({ type: "custom_tool_call", name: "patch", input: "*** Begin" });
    const patched = { type: "custom_tool_call_output", call_id: second["call_id"], output: "done" };
    const last = await ask([asked, first, closed, second, patched], { tools: offered });
    expect(member(bodyOf(last), "output", 0, "content", 0, "text")).toBe("The tool answered: done");
    expect((await ask([asked, first, closed, second], { tools: offered })).status).toBe(400);
  });

  test("an item is named by its id, as long as it is kept", async () => {
    const body = bodyOf(await ask("hello"));
    const reference = { type: "item_reference", id: member(body, "output", 0, "id") };
    expect((await ask([user("hello"), reference, user("go on")])).status).toBe(200);
    const message = member(await errorOf([{ type: "item_reference", id: "msg_none" }, user("x")], {}, 404), "message");
    expect(message).toBe("Item with id 'msg_none' not found.");
  });

  test("instructions are not carried over", async () => {
    const first = await idOf(ask("hello", { instructions: "be brief" }));
    const second = bodyOf(await ask("more", { previous_response_id: first }));
    expect(second).toMatchObject({ instructions: null, previous_response_id: first });
    expect(listOf(await get(`${url}/${String(member(second, "id"))}/input_items`), "data")).toHaveLength(3);
  });
});

describe("reasoning", () => {
  test("is only summed up for who asks, and shown as it is by open models", async () => {
    const output = async (more: JsonObject) => listOf(await ask("hi", more), "output")[0];
    expect(await output({ reasoning: { effort: "high" } })).toMatchObject({ type: "reasoning", summary: [] });
    expect(await output({ reasoning: { summary: "auto" } })).toMatchObject({ summary: [{ type: "summary_text" }] });
    const open = { model: "gpt-oss-120b", reasoning: { effort: "low" } };
    expect(await output(open)).toMatchObject({ summary: [], content: [{ type: "reasoning_text" }] });
    const events = eventsOf(await ask("hi", { ...open, stream: true })).map(({ event }) => event);
    expect(events).toContain("response.reasoning_text.delta");
    expect(await output({ reasoning: { effort: "minimal" } })).toMatchObject({ type: "message" });
  });

  test("is returned sealed and unchanged, before the item that it led to", async () => {
    const [thought, ...rest] = listOf(await ask("hi", { ...sealed, store: false }), "output");
    const back = (item: unknown, followed = rest) => [user("hi"), item, ...followed, user("more")];
    expect((await ask(back(thought), { store: false })).status).toBe(200);
    const content = String(member(thought, "encrypted_content"));
    expect(content).toStartWith("gAAAAA");
    const altered = { ...(thought as JsonObject), encrypted_content: `${content.slice(0, 40)}x${content.slice(41)}` };
    expect(await errorOf(back(altered))).toMatchObject({ code: "invalid_encrypted_content" });
    const bare = { ...(thought as JsonObject), encrypted_content: undefined };
    expect(member(await errorOf(back(bare), {}, 404), "message")).toContain("not found");
    expect(member(await errorOf(back(thought, [])), "message")).toContain("lacks its required following item");
  });
});

describe("refused requests", () => {
  test.each<[what: string, input: unknown, more: JsonObject, param: string]>([
    ["an unknown member", "hi", { max_tokens: 20 }, "max_tokens"],
    ["an unknown member of an item", [{ ...user("hi"), name: "x" }], {}, "input[0].name"],
    ["a part of the chat dialect", [user([{ type: "text", text: "hi" }])], {}, "input[0].content[0].type"],
    [
      "an answer in input parts",
      [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }],
      {},
      "input[0].content[0].type",
    ],
    [
      "an image in an object",
      [user([{ type: "input_image", image_url: { url: "https://x" } }])],
      {},
      "input[0].content[0].image_url",
    ],
    [
      "broken base64",
      [user([{ type: "input_image", image_url: "data:image/png;base64,§" }])],
      {},
      "input[0].content[0].image_url",
    ],
    ["a tool in chat's shape", "hi", { tools: [{ type: "function", function: { name: "f" } }] }, "tools[0].name"],
    [
      "a foreign id",
      [{ type: "function_call", id: "toolu_1", call_id: "c", name: "f", arguments: "{}" }],
      {},
      "input[0].id",
    ],
    ["fewer than 16 tokens", "hi", { max_output_tokens: 5 }, "max_output_tokens"],
    ["a schema without a name", "hi", { text: { format: { type: "json_schema", schema: {} } } }, "text.format.name"],
    ["an unknown include", "hi", { include: ["everything"] }, "include"],
    ["stream options without a stream", "hi", { stream_options: {} }, "stream_options"],
    ["what is not simulated", "hi", { prompt: { id: "p" } }, "prompt"],
  ])("%s", async (_what, input, more, param) => {
    expect(await errorOf(input, more)).toMatchObject({ type: "invalid_request_error", param });
  });

  test("calls and results that do not pair", async () => {
    const call = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
    const result = { type: "function_call_output", call_id: "call_1", output: "x" };
    expect(member(await errorOf([user("hi"), result]), "message")).toContain("No tool call found");
    expect(member(await errorOf([user("hi"), call]), "message")).toContain("No tool output found");
    const id = await idOf(ask("weather?", { tools }));
    expect(member(await errorOf("never mind", { previous_response_id: id }), "message")).toContain("No tool output");
    expect((await ask([user("hi"), call, result])).status).toBe(200);
  });
});

describe("a stream", () => {
  test("numbers its events, names them, and adds up to the response that ends it", async () => {
    const reply = await ask("parallel aloud", { tools, stream: true, reasoning: { effort: "high", summary: "auto" } });
    const events = eventsOf(reply);
    expect(events.map(({ data }) => member(data, "sequence_number"))).toEqual(events.map((_, index) => index));
    expect(events.every(({ event, data }) => event === member(data, "type"))).toBe(true);
    expect(reply.text).not.toContain("[DONE]");
    const added = (type: string): string =>
      events
        .filter(({ event }) => event === type)
        .map(({ data }) => String(member(data, "delta")))
        .join("");
    const response = member(events.at(-1)?.data, "response");
    expect(added("response.output_text.delta")).toBe(String(member(response, "output", 1, "content", 0, "text")));
    expect(added("response.reasoning_summary_text.delta")).toBe(
      String(member(response, "output", 0, "summary", 0, "text")),
    );
    const calls = [2, 3].map((index) => String(member(response, "output", index, "arguments")));
    expect(added("response.function_call_arguments.delta")).toBe(calls.join(""));
    const done = events.filter(({ event }) => event === "response.output_item.done");
    expect(done.map(({ data }) => member(data, "item"))).toEqual(
      [0, 1, 2, 3].map((index) => member(response, "output", index)),
    );
  });

  test("ends as incomplete if the limit cuts it, and as failed if the generation fails", async () => {
    const cut = eventsOf(await ask("words:50", { max_output_tokens: 16, stream: true })).at(-1);
    expect(cut).toMatchObject({
      event: "response.incomplete",
      data: { response: { incomplete_details: { reason: "max_output_tokens" }, completed_at: null } },
    });
    const failed = bodyOf(await ask("hi", { model: "gpt-5-mini+failed" }));
    expect(failed).toMatchObject({ status: "failed", output: [], usage: null, error: { code: "server_error" } });
  });

  test("pads its deltas unless that is switched off", async () => {
    expect((await ask("hi", { stream: true })).text).toContain('"obfuscation"');
    const off = await ask("hi", { stream: true, stream_options: { include_obfuscation: false } });
    expect(off.text).not.toContain('"obfuscation"');
  });

  test("breaks with a flat error event that has the next number", async () => {
    const events = eventsOf(await ask("words:9", { model: "gpt-5-mini+error-4", stream: true }));
    expect(events.at(-1)).toMatchObject({ event: "error", data: { type: "error", code: "server_error", param: null } });
    expect(member(events.at(-1)?.data, "sequence_number")).toBe(4);
  });
});

test("functions are strict by default, and defaults are reported", async () => {
  const body = bodyOf(await ask("hi", { tools, tool_choice: "none" }));
  expect(body).toMatchObject({ tools: [{ strict: true }], tool_choice: "none", truncation: "disabled", store: true });
});

test("refusals are parts of their own", async () => {
  const [message] = listOf(await ask("refuse:it"), "output");
  expect(message).toMatchObject({ status: "completed", content: [{ type: "refusal" }] });
});

test("the input can be counted alone", async () => {
  const counted = await post(`${url}/input_tokens`, { model: "gpt-5-mini", input: "hello" });
  expect(bodyOf(counted)).toEqual({ object: "response.input_tokens", input_tokens: 5 });
});

test("log probabilities are present if included", async () => {
  const include = ["message.output_text.logprobs"];
  const [message] = listOf(await ask("words of two", { include, top_logprobs: 1, max_output_tokens: 16 }), "output");
  const logprobs = member(message, "content", 0, "logprobs");
  expect(logprobs).toHaveLength(12);
  expect(member(logprobs, 0, "top_logprobs")).toHaveLength(1);
  const [plain] = listOf(await ask("hi"), "output");
  expect(member(plain, "content", 0, "logprobs")).toEqual([]);
});
