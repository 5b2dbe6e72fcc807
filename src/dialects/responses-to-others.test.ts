import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import { type DialectTranslation, tagSignature, type TranslationTarget } from "./conversation/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { responsesTranslation } from "./responses/index.ts";

const upstream: TranslationTarget = { model: "mistral-x", origin: "mistral", developerRole: false };
const anthropic: TranslationTarget = { model: "claude-x", origin: "anthropic", outputTokensMax: 64_000 };

function translate(body: JsonObject, to: DialectTranslation = chatTranslation): Record<string, unknown> {
  const target = to === chatTranslation ? upstream : anthropic;
  return to.writeRequest(responsesTranslation.readRequest({ model: "m", input: "hello", ...body }), target);
}

const messagesOf = (...input: JsonObject[]): unknown => translate({ input })["messages"];

/** The field that the refusal names. */
function refusal(body: JsonObject, to: DialectTranslation = chatTranslation): string | undefined {
  try {
    translate(body, to);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 422) return error.param;
    throw error;
  }
  return undefined;
}

const hello = { role: "user", content: "hello" };
const call = (id: string, said = "{}") => ({ type: "function_call", call_id: id, name: "f", arguments: said });
const result = (id: string, output: unknown = "ok") => ({ type: "function_call_output", call_id: id, output });
const chatCall = (id: string, said = "{}") => ({ id, type: "function", function: { name: "f", arguments: said } });

describe("fields toward chat", () => {
  test.each<[string, JsonObject, JsonObject]>([
    ["a string", {}, {}],
    ["instructions", { instructions: "Be brief." }, { messages: [{ role: "system", content: "Be brief." }, hello] }],
    ["a limit", { max_output_tokens: 50 }, { max_completion_tokens: 50 }],
    ["sampling", { temperature: 0.5, top_p: 0.9 }, { temperature: 0.5, top_p: 0.9 }],
    ["an effort", { reasoning: { effort: "low", summary: "auto" } }, { reasoning_effort: "low" }],
    ["how long to answer", { text: { verbosity: "low" } }, { verbosity: "low" }],
    ["any JSON", { text: { format: { type: "json_object" } } }, { response_format: { type: "json_object" } }],
    [
      "a schema",
      { text: { format: { type: "json_schema", name: "a", schema: { type: "object" }, strict: true } } },
      {
        response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" }, strict: true } },
      },
    ],
    [
      "a function",
      { tools: [{ type: "function", name: "f", parameters: { type: "object" }, defer_loading: true }] },
      { tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }] },
    ],
    ["how likely tokens are", { include: ["message.output_text.logprobs"] }, { logprobs: true }],
    ["what else was likely", { top_logprobs: 3 }, { logprobs: true, top_logprobs: 3 }],
    ["streaming", { stream: true, stream_options: { include_obfuscation: false } }, { stream: true }],
    ["a user", { user: "u-1", service_tier: "flex" }, { user: "u-1", service_tier: "flex" }],
    [
      "what the gateway itself keeps",
      { store: true, metadata: { a: "b" }, prompt_cache_key: "k", truncation: "auto", background: false, prompt: null },
      {},
    ],
    ["what needs no asking for", { include: ["reasoning.encrypted_content"], safety_identifier: "s" }, {}],
  ])("%s", (_title, body, expected) => {
    expect(translate(body)).toEqual({ model: "mistral-x", messages: [hello], ...expected });
  });

  test.each<[string, unknown]>([
    ["auto", "auto"],
    ["required", "required"],
    ["none", "none"],
    [{ type: "function", name: "f" } as never, { type: "function", function: { name: "f" } }],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] } as never,
      {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
      },
    ],
  ])("the choice of tools %j", (choice, expected) => {
    const tools = [{ type: "function", name: "f" }];
    expect(translate({ tools, tool_choice: choice })["tool_choice"]).toEqual(expected);
  });

  test.each<[string, JsonObject]>([
    ["conversation", { conversation: "conv_1" }],
    ["prompt", { prompt: { id: "p" } }],
    ["moderation", { moderation: { model: "m" } }],
    ["tools.0", { tools: [{ type: "web_search" }] }],
    ["tool_choice", { tools: [{ type: "function", name: "f" }], tool_choice: { type: "web_search" } }],
    ["input.0", { input: [{ type: "computer_call", id: "cu", call_id: "c", status: "completed" }] }],
    ["input.0.type", { input: [{ type: "weather" }] }],
    ["input.0.role", { input: [{ role: "tool", content: "x" }] }],
    ["input.0.content", { input: [{ role: "user", content: [] }] }],
    ["input.0.content.0.type", { input: [{ role: "user", content: [{ type: "input_video" }] }] }],
    ["input.0.content.0.image_url", { input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] }],
    ["input.0.content.0.file_data", { input: [{ role: "user", content: [{ type: "input_file", file_data: "%" }] }] }],
    ["input.1.call_id", { input: [call("a"), result("b")] }],
    ["input.2.call_id", { input: [call("a"), result("a"), result("a")] }],
    ["text.format.name", { text: { format: { type: "json_schema", name: "", schema: {} } } }],
    ["reasoning.effort", { reasoning: { effort: "very" } }],
  ])("%s is refused by its name", (param, body) => {
    expect(refusal(body)).toBe(param);
  });
});

describe("items toward chat", () => {
  test("of one answer are one message", () => {
    const message = {
      type: "message",
      id: "m",
      role: "assistant",
      content: [{ type: "output_text", text: "I look." }],
    };
    expect(messagesOf(hello, message, call("a", '{"a":1}'), call("b"), result("a"), result("b", "no"))).toEqual([
      hello,
      { role: "assistant", content: "I look.", tool_calls: [chatCall("a", '{"a":1}'), chatCall("b")] },
      { role: "tool", tool_call_id: "a", content: "ok" },
      { role: "tool", tool_call_id: "b", content: "no" },
    ]);
  });

  test("with images, files and sounds", () => {
    const content = [
      { type: "input_text", text: "see" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "low" },
      { type: "input_file", file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    ];
    expect(messagesOf({ role: "user", content })).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } },
          { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        ],
      },
    ]);
  });

  test("images of results follow in the user's next message", () => {
    const drawn = [{ type: "input_image", image_url: "https://x.test/a.png" }];
    expect(messagesOf(hello, call("a"), result("a", drawn), { role: "user", content: "go on" })).toMatchObject([
      hello,
      { role: "assistant" },
      { role: "tool", content: "The result follows in the next message." },
      { role: "user", content: [{ type: "text" }, { type: "image_url" }, { type: "text", text: "go on" }] },
    ]);
  });

  test("the calls of tools that take free text", () => {
    const custom = { type: "custom_tool_call", call_id: "c", name: "run", input: "ls" };
    const output = { type: "custom_tool_call_output", call_id: "c", output: "ok" };
    expect(messagesOf(hello, custom, output)).toMatchObject([
      hello,
      { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "run", input: "ls" } }] },
      { role: "tool", tool_call_id: "c", content: "ok" },
    ]);
  });
});

describe("toward Messages", () => {
  const sealed = tagSignature({ origin: "anthropic", value: "sig" }, "thought", "responses");
  const thought = (encrypted: string) => ({
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "hm" }],
    encrypted_content: encrypted,
  });

  test("a loop of calls keeps its thoughts, with their signature", () => {
    const input = [hello, thought(sealed), call("a"), call("b"), result("a"), result("b")];
    expect(translate({ input, reasoning: { effort: "low" } }, messagesTranslation)).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 4_096 },
      messages: [
        hello,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "sig" },
            { type: "tool_use", id: "a" },
            { type: "tool_use", id: "b" },
          ],
        },
        { role: "user", content: [{ type: "tool_result" }, { type: "tool_result" }] },
      ],
    });
  });

  test.each([
    ["another upstream", tagSignature({ origin: "google", value: "sig" }, "thought", "responses")],
    ["OpenAI itself", "gAAAA"],
  ])("a thought of %s stays behind", (_whose, encrypted) => {
    const { messages } = translate({ input: [hello, thought(encrypted), call("a"), result("a")] }, messagesTranslation);
    expect(JSON.stringify(messages)).not.toMatch(/thinking|sig|gAAAA/);
  });

  test("a thought in cipher goes back as it was", () => {
    const cipher = {
      ...thought(tagSignature({ origin: "anthropic", value: "zzz" }, "cipher", "responses")),
      summary: [],
    };
    const { messages } = translate({ input: [hello, cipher, call("a"), result("a")] }, messagesTranslation);
    expect(messages).toMatchObject([hello, { content: [{ type: "redacted_thinking", data: "zzz" }, { id: "a" }] }, {}]);
  });

  test("fields that only chat can express are refused", () => {
    const logprobs = { include: ["reasoning.encrypted_content", "message.output_text.logprobs"] };
    expect(refusal(logprobs, messagesTranslation)).toBe("include");
    expect(refusal({ include: ["reasoning.encrypted_content"] }, messagesTranslation)).toBeUndefined();
    expect(refusal({ tools: [{ type: "custom", name: "run" }] }, messagesTranslation)).toBe("tools.0");
  });

  test("members of a function that only OpenAI knows are omitted", () => {
    const tools = [{ type: "function", name: "f", parameters: { type: "object" }, output_schema: {} }];
    expect(translate({ tools }, messagesTranslation)["tools"]).toEqual([
      { name: "f", input_schema: { type: "object" } },
    ]);
  });
});

test("the signature of a call comes back from the thought before it", () => {
  const extra = { google: { thought_signature: "sig" } };
  const encrypted = tagSignature({ origin: "google", value: JSON.stringify(extra) }, "call", "responses");
  const input = [
    hello,
    { type: "reasoning", id: "rs", summary: [], encrypted_content: encrypted },
    call("a"),
    call("b"),
    result("a"),
    result("b"),
  ];
  const conversation = responsesTranslation.readRequest({ model: "m", input });
  const { messages } = chatTranslation.writeRequest(conversation, { model: "gemini", origin: "google" });
  expect(messages).toMatchObject([
    hello,
    { tool_calls: [{ id: "a", extra_content: extra }, { id: "b" }] },
    { role: "tool" },
    { role: "tool" },
  ]);
  const { messages: foreign } = chatTranslation.writeRequest(conversation, upstream);
  expect(JSON.stringify(foreign)).not.toContain("sig");
});
