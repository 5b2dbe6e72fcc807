import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import { tagSignature, type TranslationTarget } from "./conversation/index.ts";
import { messagesTranslation } from "./messages/index.ts";

const upstream: TranslationTarget = { model: "gpt-x", origin: "openai" };
const hello = { role: "user", content: "hello" };

function translate(body: JsonObject, target = upstream): Record<string, unknown> {
  const whole = { model: "gpt-x", max_tokens: 100, messages: [hello], ...body };
  return chatTranslation.writeRequest(messagesTranslation.readRequest(whole), target);
}

const messagesOf = (messages: JsonObject[], target = upstream): unknown => translate({ messages }, target)["messages"];

function refusal(body: JsonObject): string | undefined {
  try {
    translate(body);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 422) return error.param;
    throw error;
  }
  return undefined;
}

const use = (id: string, input: JsonObject = {}) => ({ type: "tool_use", id, name: "f", input });
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const imageUrl = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const asked = (...blocks: JsonObject[]) => ({ role: "assistant", content: blocks });

describe("fields", () => {
  test.each<[string, JsonObject, JsonObject]>([
    ["stop sequences", { stop_sequences: ["A"] }, { stop: ["A"] }],
    ["sampling", { temperature: 0.5, top_p: 0.9, top_k: 3 }, { temperature: 0.5, top_p: 0.9 }],
    ["a budget", { thinking: { type: "enabled", budget_tokens: 20_000 } }, { reasoning_effort: "high" }],
    ["an effort", { thinking: { type: "adaptive" }, output_config: { effort: "low" } }, { reasoning_effort: "low" }],
    ["adaptive thinking alone", { thinking: { type: "adaptive" } }, {}],
    ["no thinking", { thinking: { type: "disabled" } }, {}],
    ["a user", { metadata: { user_id: "u-1" } }, { user: "u-1" }],
    ["a tier", { service_tier: "standard_only" }, { service_tier: "default" }],
    ["marks for the cache", { cache_control: { type: "ephemeral" }, speed: "fast", diagnostics: {} }, {}],
    [
      "a schema for the answer",
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "answer", schema: { type: "object" }, strict: true },
        },
      },
    ],
  ])("%s", (_title, body, expected) => {
    const base = { model: "gpt-x", messages: [hello], max_completion_tokens: 100 };
    expect(translate(body)).toEqual({ ...base, ...expected });
  });

  test("a thread is refused with the code that SDKs know", () => {
    const threaded = () => translate({ thread: { type: "create" } });
    expect(threaded).toThrow(expect.objectContaining({ code: "thread_unsupported_request", status: 400 }));
    expect(translate({ thread: null })).not.toHaveProperty("thread");
  });

  test("that matter are refused if they cannot be expressed", () => {
    expect(refusal({ container: "c-1" })).toBe("container");
    expect(refusal({ mcp_servers: [{ url: "https://x.test" }] })).toBe("mcp_servers");
    expect(refusal({ inference_geo: "eu" })).toBe("inference_geo");
    expect(refusal({ tools: [{ type: "web_search_20250305", name: "web_search" }] })).toBe("tools.0");
  });

  test("an effort is moved to one that the model supports", () => {
    const thinking = { type: "enabled", budget_tokens: 60_000 };
    expect(translate({ thinking }, { ...upstream, efforts: ["low", "high"] })["reasoning_effort"]).toBe("high");
    expect(translate({ thinking }, { ...upstream, efforts: [] })["reasoning_effort"]).toBeUndefined();
    const off = { thinking: { type: "disabled" } };
    expect(translate(off, { ...upstream, efforts: ["none", "low"] })["reasoning_effort"]).toBe("none");
    expect(translate(off, { ...upstream, efforts: ["low"] })["reasoning_effort"]).toBeUndefined();
  });

  test.each<[JsonObject, JsonObject]>([
    [{ type: "auto" }, { tool_choice: "auto" }],
    [
      { type: "any", disable_parallel_tool_use: true },
      { tool_choice: "required", parallel_tool_calls: false },
    ],
    [{ type: "tool", name: "f" }, { tool_choice: { type: "function", function: { name: "f" } } }],
    [{ type: "none" }, { tool_choice: "none" }],
  ])("the choice of tools %j", (choice, expected) => {
    const tools = [
      { name: "f", description: "d", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } },
    ];
    expect(translate({ tools, tool_choice: choice })).toMatchObject({
      ...expected,
      tools: [{ type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } }],
    });
  });
});

describe("a thought of another upstream", () => {
  const foreign = tagSignature({ origin: "deepseek", value: "" }, "thought", "messages");
  const results = { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "ok" }] };
  const body = (signature: string) => ({
    model: "claude-x",
    max_tokens: 9_000,
    thinking: { type: "enabled", budget_tokens: 2_000 },
    messages: [hello, asked({ type: "thinking", thinking: "hm", signature }, use("c1")), results],
  });
  const anthropic: TranslationTarget = { model: "claude-x", origin: "anthropic" };
  const again = (signature: string) =>
    messagesTranslation.writeRequest(messagesTranslation.readRequest(body(signature)), anthropic);

  test("is not sent to Messages, whose loop then continues without thinking", () => {
    const written = again(foreign);
    expect(written["thinking"]).toBeUndefined();
    expect(written["messages"]).toEqual([hello, asked(use("c1")), results]);
  });

  test("also represents the signature of a call", () => {
    const calls = tagSignature({ origin: "google", value: "{}" }, "call", "messages");
    const turn = asked({ type: "thinking", thinking: "", signature: calls }, use("c1"));
    const asks = { ...body(""), messages: [hello, turn, results] };
    const written = messagesTranslation.writeRequest(messagesTranslation.readRequest(asks), anthropic);
    expect(written["thinking"]).toBeUndefined();
    expect(written["messages"]).toEqual([hello, asked(use("c1")), results]);
  });

  test("is distinguished from its own, which returns unchanged", () => {
    expect(again("EqQBCg")).toEqual(body("EqQBCg"));
    const own = tagSignature({ origin: "anthropic", value: "EqQBCg" }, "thought", "messages");
    expect(again(own)).toEqual(body("EqQBCg"));
  });
});

describe("turns", () => {
  test("the system prompt in blocks is one text", () => {
    const system = [
      { type: "text", text: "A", cache_control: { type: "ephemeral" } },
      { type: "text", text: "B" },
    ];
    expect(translate({ system })["messages"]).toEqual([{ role: "system", content: "A\n\nB" }, hello]);
  });

  test("results come before the user's content, and their images after", () => {
    const results = [
      { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "see" }, image] },
      { type: "tool_result", tool_use_id: "c2", content: "no such file", is_error: true },
      { type: "text", text: "go on" },
    ];
    expect(
      messagesOf([
        hello,
        asked({ type: "text", text: "I look." }, use("c1", { a: 1 }), use("c2")),
        { role: "user", content: results },
      ]),
    ).toEqual([
      hello,
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
          { id: "c2", type: "function", function: { name: "f", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "see" },
      { role: "tool", tool_call_id: "c2", content: "Error: no such file" },
      {
        role: "user",
        content: [{ type: "text", text: "Of the result of tool call c1:" }, imageUrl, { type: "text", text: "go on" }],
      },
    ]);
  });

  test("images of results follow if the user's turn is otherwise empty", () => {
    const results = [{ type: "tool_result", tool_use_id: "c1", content: [image] }];
    expect(messagesOf([hello, asked(use("c1")), { role: "user", content: results }])).toMatchObject([
      hello,
      { role: "assistant" },
      { role: "tool", content: "The result follows in the next message." },
      { role: "user", content: [{ type: "text" }, imageUrl] },
    ]);
  });

  test("documents are files, and texts if they are text", () => {
    const pdf = { type: "base64", media_type: "application/pdf", data: "AAAA" };
    const content = [
      { type: "document", source: pdf, title: "a.pdf", citations: { enabled: true } },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "hi" }, title: "Notes" },
      { type: "document", source: { type: "content", content: [{ type: "text", text: "in" }, image] } },
      { type: "document", source: { type: "file", file_id: "file_1" } },
    ];
    expect(messagesOf([{ role: "user", content }])).toEqual([
      {
        role: "user",
        content: [
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } },
          { type: "text", text: "Notes\n\nhi" },
          { type: "text", text: "in" },
          imageUrl,
          { type: "file", file: { file_id: "file_1" } },
        ],
      },
    ]);
  });

  test("thoughts go back in the upstream's own field, and no signature of others with them", () => {
    const own = tagSignature({ origin: "byteplus", value: "cipher" }, "thought", "messages");
    const thoughts = asked(
      { type: "thinking", thinking: "a", signature: own },
      { type: "thinking", thinking: "b", signature: "EqQBCg" },
      { type: "redacted_thinking", data: "zzz" },
      { type: "text", text: "said" },
    );
    const byteplus: TranslationTarget = { ...upstream, origin: "byteplus", reasoningField: "reasoning_content" };
    expect(messagesOf([hello, thoughts], byteplus)).toEqual([
      hello,
      { role: "assistant", content: "said", reasoning_content: "ab", encrypted_content: "cipher" },
    ]);
    expect(messagesOf([hello, thoughts])).toEqual([hello, { role: "assistant", content: "said" }]);
  });

  test("the signature of a call returns to its origin, and is replaced if lost", () => {
    const extra = { google: { thought_signature: "sig" } };
    const sealed = tagSignature({ origin: "google", value: JSON.stringify(extra) }, "call", "messages");
    const google: TranslationTarget = { ...upstream, origin: "google", lostCallSignature: { google: { lost: true } } };
    const kept = asked({ type: "thinking", thinking: "", signature: sealed }, use("c1"), use("c2"));
    expect(messagesOf([hello, kept], google)).toMatchObject([
      hello,
      { tool_calls: [{ id: "c1", extra_content: extra }, { id: "c2" }] },
    ]);
    const lost = { tool_calls: [{ id: "c1", extra_content: { google: { lost: true } } }] };
    expect(messagesOf([hello, asked(use("c1"))], google)).toMatchObject([hello, lost]);
    expect(JSON.stringify(messagesOf([hello, kept]))).not.toContain("sig");
  });

  test("ids of calls are shortened for an upstream that wants them short", () => {
    const results = [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }];
    const messages = [hello, asked(use("toolu_1")), { role: "user", content: results }];
    const [, called, answered] = messagesOf(messages, { ...upstream, shortCallIds: true }) as {
      tool_calls?: { id: string }[];
      tool_call_id?: string;
    }[];
    expect(called?.tool_calls?.[0]?.id).toMatch(/^[a-z0-9]{9}$/);
    expect(answered?.tool_call_id).toBe(called?.tool_calls?.[0]?.id ?? "");
  });

  test.each<[string, JsonObject[], string]>([
    ["nothing", [], "messages"],
    ["an empty message", [hello, { role: "user", content: [] }], "messages.1.content"],
    ["an unknown block", [{ role: "user", content: [{ type: "scent" }] }], "messages.0.content.0.type"],
    [
      "a result without a call",
      [{ role: "user", content: [{ type: "tool_result", tool_use_id: "c" }] }],
      "messages.0.content.0.tool_use_id",
    ],
    ["a call by the user", [{ role: "user", content: [use("c")] }], "messages.0.content.0"],
    ["an image by the assistant", [hello, asked(image)], "messages.1.content.0"],
    [
      "base64 that is none",
      [{ role: "user", content: [{ ...image, source: { ...image.source, data: "é" } }] }],
      "messages.0.content.0.source.data",
    ],
    [
      "a stored image",
      [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "f" } }] }],
      "messages.0.content.0.source",
    ],
    [
      "a document by its address",
      [{ role: "user", content: [{ type: "document", source: { type: "url", url: "https://x.test/a.pdf" } }] }],
      "messages.0.content.0.source",
    ],
    [
      "a block that the client alone can give",
      [hello, asked({ type: "search_result", source: "x", title: "y", content: [] })],
      "messages.1.content.0",
    ],
  ])("%s is refused", (_title, messages, param) => {
    expect(refusal({ messages })).toBe(param);
  });
});
