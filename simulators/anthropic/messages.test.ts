import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import type { JsonObject } from "../shared/json.ts";
import { bodyOf, eventsOf, listOf, member, post, type Reply, weatherTool } from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

function ask(content: unknown, more: JsonObject = {}, version = "2023-06-01"): Promise<Reply> {
  const body = { model: "claude-haiku-4-5", max_tokens: 2_048, messages: [{ role: "user", content }], ...more };
  return post(`${simulators.providers.anthropic}/v1/messages`, body, { "anthropic-version": version });
}

const { name, parameters } = weatherTool.function;
const tools = [{ name, input_schema: parameters }];
const thinking = { type: "enabled", budget_tokens: 1_024 };

describe("fallbacks", () => {
  const body = (more: JsonObject = {}) => ({
    model: "claude-fable-5",
    max_tokens: 100,
    messages: [{ role: "user", content: "refuse:cyber now" }],
    fallbacks: [{ model: "claude-opus-4-8" }],
    ...more,
  });
  const beta = { "anthropic-version": "2023-06-01", "anthropic-beta": "server-side-fallback-2026-07-01" };
  const send = (given: JsonObject, headers: Record<string, string> = beta) =>
    post(`${simulators.providers.anthropic}/v1/messages`, given, headers);

  test("answer for a model that declines, and are told in the usage", async () => {
    expect(bodyOf(await send(body()))).toMatchObject({
      model: "claude-opus-4-8",
      stop_reason: "end_turn",
      content: [
        { type: "fallback", from: { model: "claude-fable-5" }, to: { model: "claude-opus-4-8" } },
        { type: "text", text: "You said: fallback now. That is all I have to say." },
      ],
      usage: {
        output_tokens: 11,
        iterations: [
          { type: "message", model: "claude-fable-5", output_tokens: 0 },
          { type: "fallback_message", model: "claude-opus-4-8", output_tokens: 11 },
        ],
      },
    });
    const events = eventsOf(await send(body({ stream: true }))).map(({ data }) => data);
    expect(events[0]).toMatchObject({ type: "message_start", message: { model: "claude-fable-5" } });
    expect(events.at(-2)).toMatchObject({ usage: { iterations: [{}, { type: "fallback_message" }] } });
  });

  test("may be left to the provider, and need a model that declines and a header", async () => {
    expect(bodyOf(await send(body({ fallbacks: "default" })))).toMatchObject({ model: "claude-opus-4-8" });
    const plain = [{ role: "user", content: "hello" }];
    expect(bodyOf(await send(body({ messages: plain })))).toMatchObject({ model: "claude-fable-5" });
    expect((await send(body({ fallbacks: [{}] }))).status).toBe(400);
    expect((await send(body(), { "anthropic-version": "2023-06-01" })).status).toBe(400);
  });
});

describe("an answer", () => {
  test("is a message with native ids, reasons and usage", async () => {
    const body = bodyOf(await ask("hello"));
    expect(body).toMatchObject({
      type: "message",
      role: "assistant",
      model: "claude-haiku-4-5",
      content: [{ type: "text", text: "You said: hello. That is all I have to say." }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 10 },
    });
    expect(member(body, "id")).toMatch(/^msg_01\w{22}$/);
  });

  test("names the stop sequence that ended it", async () => {
    const body = bodyOf(await ask("one two three", { stop_sequences: ["three", "two"] }));
    expect(body).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: "two" });
  });

  test("of max_tokens 0 is empty: it only warms the cache", async () => {
    expect(bodyOf(await ask("hello", { max_tokens: 0 }))).toMatchObject({ content: [], stop_reason: "max_tokens" });
  });

  test("that is refused has no content but stop details", async () => {
    const bio = bodyOf(await ask("refuse:bio"));
    expect(bio).toMatchObject({
      content: [],
      stop_reason: "refusal",
      stop_details: { type: "refusal", category: "bio" },
    });
    expect(member(bodyOf(await ask("refuse:other")), "stop_details", "category")).toBeNull();
  });

  test("cites the documents that may be cited", async () => {
    const source = { type: "text", media_type: "text/plain", data: "Grass is green." };
    const cited = { type: "document", source, title: "Colours", citations: { enabled: true } };
    const question = [{ type: "document", source }, cited, { type: "text", text: "colour?" }];
    const citation = {
      type: "char_location",
      cited_text: "Grass is green.",
      document_index: 1,
      document_title: "Colours",
      file_id: null,
      start_char_index: 0,
      end_char_index: 15,
    };
    expect(member(bodyOf(await ask(question)), "content", 0, "citations")).toEqual([citation]);
    const deltas = eventsOf(await ask(question, { stream: true })).map(({ data }) => member(data, "delta"));
    expect(deltas).toContainEqual({ type: "citations_delta", citation });
  });

  test("counts the prompt, free of charge", async () => {
    const url = `${simulators.providers.anthropic}/v1/messages/count_tokens`;
    const body = { model: "claude-haiku-4-5", system: "be brief", messages: [{ role: "user", content: "hello" }] };
    const counted = await post(url, body, { "anthropic-version": "2023-06-01" });
    expect(bodyOf(counted)).toEqual({ input_tokens: 10 });
    expect(member(bodyOf(await ask("hello", { system: "be brief" })), "usage", "input_tokens")).toBe(10);
    const limited = await post(url, { ...body, max_tokens: 5 }, { "anthropic-version": "2023-06-01" });
    expect([limited.status, member(bodyOf(limited), "error", "message")]).toEqual([
      400,
      "max_tokens: Extra inputs are not permitted",
    ]);
  });
});

describe("a stream", () => {
  test("opens, fills and closes its blocks one after the other", async () => {
    const reply = await ask("parallel aloud", { tools, thinking, stream: true });
    const events = eventsOf(reply);
    expect(events.every(({ event, data }) => event === member(data, "type"))).toBe(true);
    expect(reply.text).not.toContain("[DONE]");
    const kinds = events.map(({ data }) => {
      const kind = member(data, "delta", "type") ?? member(data, "content_block", "type");
      const told = [member(data, "index"), member(data, "type"), kind];
      return told.filter((part) => typeof part === "string" || typeof part === "number").join(" ");
    });
    expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
      "message_start",
      "0 content_block_start thinking",
      "ping",
      "0 content_block_delta thinking_delta",
      "0 content_block_delta signature_delta",
      "0 content_block_stop",
      "1 content_block_start text",
      "1 content_block_delta text_delta",
      "1 content_block_stop",
      "2 content_block_start tool_use",
      "2 content_block_delta input_json_delta",
      "2 content_block_stop",
      "3 content_block_start tool_use",
      "3 content_block_delta input_json_delta",
      "3 content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  test("reports the input first and the totals last", async () => {
    const events = eventsOf(await ask("words:7", { stream: true }));
    expect(member(events[0]?.data, "message", "usage")).toMatchObject({ input_tokens: 5, output_tokens: 1 });
    expect(member(events.at(-2)?.data, "usage")).toMatchObject({ input_tokens: 5, output_tokens: 7 });
  });

  test("of a call without arguments has one empty piece", async () => {
    const empty = { name: "now", input_schema: { type: "object", properties: {} } };
    const events = eventsOf(await ask("time?", { tools: [empty], stream: true }));
    const pieces = events
      .map(({ data }) => member(data, "delta", "partial_json"))
      .filter((piece) => piece !== undefined);
    expect(pieces).toEqual([""]);
  });

  test("breaks with an error event, and none of the endings after it", async () => {
    const events = eventsOf(await ask("words:9", { model: "claude-haiku-4-5+error-3", stream: true }));
    expect(events.at(-1)).toMatchObject({
      event: "error",
      data: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    });
  });
});

describe("thinking", () => {
  /** Asks with thinking, then sends the answer back as `change` left it. */
  async function echo(text: string, change: (block: JsonObject) => JsonObject, more: JsonObject = {}): Promise<Reply> {
    const asked = { tools, thinking, ...more };
    const content = listOf(await ask(text, asked), "content");
    const [thought, ...rest] = content;
    const results = content.flatMap((block) => {
      const id = member(block, "id");
      return id === undefined ? [] : [{ type: "tool_result", tool_use_id: id, content: "18 degrees" }];
    });
    const changed = change(thought as JsonObject);
    const messages = [
      { role: "user", content: text },
      { role: "assistant", content: Object.keys(changed).length === 0 ? rest : [changed, ...rest] },
      { role: "user", content: results },
    ];
    return ask(text, { ...asked, messages });
  }

  test("comes back unchanged, or not at all within a tool loop", async () => {
    expect((await echo("think", (block) => block)).status).toBe(200);
    const edited = await echo("think", (block) => ({ ...block, thinking: "something else" }));
    expect([edited.status, member(bodyOf(edited), "error", "message")]).toEqual([
      400,
      "messages.1.content.0: Invalid `signature` in `thinking` block",
    ]);
    const foreign = await echo("think", (block) => ({ ...block, signature: "c2lnbmVkIGJ5IHNvbWVvbmUgZWxzZQ==" }));
    expect(foreign.status).toBe(400);
    const dropped = await echo("think", () => ({}));
    expect(member(bodyOf(dropped), "error", "message")).toContain("Expected `thinking` or `redacted_thinking`");
  });

  test("may be redacted", async () => {
    expect(listOf(await ask("redacted", { thinking }), "content")[0]).toMatchObject({ type: "redacted_thinking" });
    expect((await echo("redacted", (block) => block)).status).toBe(200);
    const edited = await echo("redacted", (block) => ({ ...block, data: `${String(block["data"]).slice(0, -4)}AAAA` }));
    expect(member(bodyOf(edited), "error", "message")).toContain("Invalid `data` in `redacted_thinking` block");
  });

  test("may be left out, but is still signed", async () => {
    const adaptive = { thinking: { type: "adaptive", display: "omitted" }, model: "claude-opus-4-8" };
    const [block] = listOf(await ask("think", adaptive), "content");
    expect(block).toMatchObject({ type: "thinking", thinking: "" });
    expect((await echo("think", (same) => same, adaptive)).status).toBe(200);
    const deltas = eventsOf(await ask("think", { ...adaptive, stream: true })).map(({ data }) => member(data, "delta"));
    expect(deltas.some((delta) => member(delta, "type") === "thinking_delta")).toBe(false);
    expect(deltas.some((delta) => member(delta, "type") === "signature_delta")).toBe(true);
  });
});

describe("the cache", () => {
  const long = "s".repeat(4_096);
  const cached = (text: string, cache_control: JsonObject = { type: "ephemeral" }) => [
    { type: "text", text, cache_control },
  ];
  async function usage(more: JsonObject): Promise<unknown> {
    return member(bodyOf(await ask("hi", more)), "usage");
  }

  test("is written first, by the time it lives", async () => {
    expect(await usage({ system: cached(long) })).toMatchObject({
      input_tokens: 4,
      cache_creation_input_tokens: 1_027,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 1_027, ephemeral_1h_input_tokens: 0 },
    });
    expect(await usage({ system: cached(long, { type: "ephemeral", ttl: "1h" }) })).toMatchObject({
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 1_027 },
    });
  });

  test("is read once the assistant has answered, and grows by the later blocks", async () => {
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: "ho" },
      { role: "user", content: cached("again") },
    ];
    const counted = await usage({ system: cached(long), messages });
    expect(counted).toMatchObject({ cache_read_input_tokens: 1_027, cache_creation_input_tokens: 12, input_tokens: 0 });
  });

  test("leaves short prefixes alone, and takes the whole prompt if it is automatic", async () => {
    expect(await usage({ system: cached("short") })).toMatchObject({ cache_creation_input_tokens: 0 });
    const automatic = await usage({ system: long, cache_control: { type: "ephemeral" } });
    expect(automatic).toMatchObject({ cache_creation_input_tokens: 1_031, input_tokens: 0 });
  });
});
