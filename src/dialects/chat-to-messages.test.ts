import { describe, expect, test } from "bun:test";
import { budgetOfEffort, effortOfBudget, GatewayError, type JsonObject } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import { tagSignature, type TranslationTarget } from "./conversation/index.ts";
import { messagesTranslation } from "./messages/index.ts";

const anthropic: TranslationTarget = { model: "claude-x", origin: "anthropic", outputTokensMax: 64_000 };
const hello = { role: "user", content: "hello" };

function translate(body: JsonObject, target = anthropic): Record<string, unknown> {
  const whole = { model: "claude-x", messages: [hello], ...body };
  return messagesTranslation.writeRequest(chatTranslation.readRequest(whole), target);
}

const messagesOf = (...messages: JsonObject[]): unknown => translate({ messages })["messages"];

/** The field that the refusal names. */
function refusal(body: JsonObject, target = anthropic): string | undefined {
  try {
    translate(body, target);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 422) return error.param;
    throw error;
  }
  return undefined;
}

const fn = (name: string) => ({ type: "function", function: { name } });
const call = (id: string, said = "{}") => ({ id, type: "function", function: { name: "f", arguments: said } });
const result = (id: string, content: unknown = "ok") => ({ role: "tool", tool_call_id: id, content });
const asks = (...calls: JsonObject[]) => ({ role: "assistant", content: null, tool_calls: calls });

describe("fields", () => {
  test.each<[string, JsonObject, JsonObject]>([
    ["the model's own limit where none is given", {}, { max_tokens: 64_000 }],
    ["a limit", { max_tokens: 5 }, { max_tokens: 5 }],
    ["the newer name of the limit", { max_tokens: 5, max_completion_tokens: 6 }, { max_tokens: 6 }],
    ["a stop", { stop: "END" }, { stop_sequences: ["END"] }],
    ["stops", { stop: ["A", "B"] }, { stop_sequences: ["A", "B"] }],
    ["a temperature", { temperature: 0.5 }, { temperature: 0.5 }],
    ["a temperature over 1", { temperature: 1.7 }, { temperature: 1 }],
    ["a user", { user: "u-1" }, { metadata: { user_id: "u-1" } }],
    ["a tier", { service_tier: "flex" }, { service_tier: "standard_only" }],
    ["streaming", { stream: true, stream_options: { include_usage: true } }, { stream: true }],
    [
      "a schema for the answer",
      {
        response_format: { type: "json_schema", json_schema: { name: "a", strict: true, schema: { type: "object" } } },
      },
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
    ],
    [
      "a field that asks for nothing",
      { n: 1, logprobs: false, top_logprobs: 0, logit_bias: {}, modalities: ["text"] },
      {},
    ],
  ])("%s", (_title, body, expected) => {
    const base = { model: "claude-x", max_tokens: 64_000, messages: [hello] };
    expect(translate(body)).toEqual({ ...base, ...expected });
  });

  test("are never silently lost if they matter", () => {
    expect(refusal({ n: 2 })).toBe("n");
    expect(refusal({ logprobs: true })).toBe("logprobs");
    expect(refusal({ logit_bias: { 5: 1 } })).toBe("logit_bias");
    expect(refusal({ modalities: ["text", "audio"] })).toBe("modalities");
    expect(refusal({ functions: [{ name: "f" }] })).toBe("functions");
    expect(refusal({ web_search_options: { search_context_size: "low" } })).toBe("web_search_options");
    expect(refusal({ stop: ["\n"] })).toBe("stop");
    expect(refusal({ tools: [{ type: "custom", custom: { name: "c" } }] })).toBe("tools.0");
  });

  test("of sampling are carried", () => {
    const body = { temperature: 0.5, top_p: 0.9, top_k: 3, seed: 1, frequency_penalty: 1, presence_penalty: 1 };
    expect(translate(body)).toMatchObject({ temperature: 0.5, top_p: 0.9, top_k: 3 });
  });
});

describe("tools", () => {
  const tools = [fn("a"), fn("b")];

  test("without a schema take anything", () => {
    expect(translate({ tools })["tools"]).toEqual([
      { name: "a", input_schema: { type: "object", properties: {} } },
      { name: "b", input_schema: { type: "object", properties: {} } },
    ]);
  });

  test.each<[JsonObject, unknown]>([
    [{}, undefined],
    [{ tool_choice: "auto" }, { type: "auto" }],
    [{ tool_choice: "none" }, { type: "none" }],
    [{ tool_choice: "required" }, { type: "any" }],
    [{ tool_choice: fn("a") }, { type: "tool", name: "a" }],
    [{ parallel_tool_calls: false }, { type: "auto", disable_parallel_tool_use: true }],
    [
      { tool_choice: "required", parallel_tool_calls: false },
      { type: "any", disable_parallel_tool_use: true },
    ],
  ])("are chosen by %j", (body, expected) => {
    expect(translate({ tools, ...body })["tool_choice"]).toEqual(expected);
  });

  test("that are not among the allowed ones are left out", () => {
    const choice = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [fn("b")] } };
    const body = translate({ tools, tool_choice: choice });
    expect(body).toMatchObject({ tools: [{ name: "b" }], tool_choice: { type: "any" } });
  });

  test("that are not there are not chosen", () => {
    expect(translate({ tool_choice: "auto" })["tool_choice"]).toBeUndefined();
  });
});

describe("reasoning", () => {
  test.each<[JsonObject, TranslationTarget, JsonObject]>([
    [{}, anthropic, { thinking: { type: "enabled", budget_tokens: 10_240 } }],
    [{ max_tokens: 3_000 }, anthropic, { thinking: { type: "enabled", budget_tokens: 2_250 } }],
    [
      {},
      { ...anthropic, thinking: "adaptive" },
      { thinking: { type: "adaptive" }, output_config: { effort: "medium" } },
    ],
    [{ reasoning_effort: "none" }, anthropic, { thinking: { type: "disabled" } }],
    [
      { thinking: { type: "enabled", budget_tokens: 2_048 } },
      anthropic,
      { thinking: { type: "enabled", budget_tokens: 2_048 } },
    ],
    [{ thinking: { type: "disabled" } }, anthropic, { thinking: { type: "disabled" } }],
    [{ thinking: { type: "auto" } }, anthropic, { thinking: { type: "enabled", budget_tokens: 10_240 } }],
  ])("with %j", (body, target, expected) => {
    const { thinking, output_config: config } = translate({ reasoning_effort: "medium", ...body }, target);
    expect(JSON.parse(JSON.stringify({ thinking, output_config: config }))).toEqual(expected);
  });

  test("is omitted without enough tokens, with a non-thinking model, or with a forced tool", () => {
    const body = { reasoning_effort: "high", tools: [fn("a")] };
    expect(translate({ ...body, max_tokens: 1_000 })["thinking"]).toBeUndefined();
    expect(translate(body, { ...anthropic, thinking: "none" })["thinking"]).toBeUndefined();
    expect(translate({ ...body, tool_choice: "required" })["thinking"]).toBeUndefined();
  });

  test("takes the sampling parameters away", () => {
    expect(translate({ reasoning_effort: "low", temperature: 0.2, top_p: 0.5 })).not.toContainAnyKeys([
      "temperature",
      "top_p",
    ]);
  });

  test("efforts and budgets stand for each other", () => {
    for (const [effort, budget] of Object.entries(budgetOfEffort)) expect<string>(effortOfBudget(budget)).toBe(effort);
    expect(effortOfBudget(1)).toBe("minimal");
    expect(effortOfBudget(1_000_000)).toBe("max");
  });

  const signature = tagSignature({ origin: "anthropic", value: "sig" }, "thought", "chat");
  const foreign = tagSignature({ origin: "google", value: "sig" }, "thought", "chat");
  const loop = (details: JsonObject[]) => [
    hello,
    { ...asks(call("c1")), reasoning_content: "hm", reasoning_details: details },
    result("c1"),
  ];

  test("returns to its maker, with its signature", () => {
    const messages = loop([{ type: "reasoning.text", text: "hm", signature }]);
    const body = translate({ reasoning_effort: "low", messages });
    expect(body).toMatchObject({
      thinking: { type: "enabled" },
      messages: [
        hello,
        { content: [{ type: "thinking", thinking: "hm", signature: "sig" }, { type: "tool_use" }] },
        {},
      ],
    });
  });

  test("among the parts of the content (Mistral) stays behind, and the text goes on", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "Hi." },
    ];
    const messages = [hello, { role: "assistant", content }, hello];
    const said = { role: "assistant", content: [{ type: "text", text: "Hi." }] };
    expect(messagesOf(...messages)).toEqual([hello, said, hello]);
  });

  test("of somebody else, or without its signature, is not forwarded, and a loop goes on without thinking", () => {
    for (const details of [[], [{ type: "reasoning.text", text: "hm", signature: foreign }]]) {
      const body = translate({ reasoning_effort: "low", messages: loop(details) });
      expect(body["thinking"]).toBeUndefined();
      expect(JSON.stringify(body)).not.toContain("hm");
      expect(JSON.stringify(body)).not.toContain("sig");
    }
  });
});

describe("turns", () => {
  test("system prompts come first, wherever they stood", () => {
    const messages = [
      { role: "system", content: "A" },
      { role: "developer", content: "B" },
      hello,
      { role: "system", content: "C" },
    ];
    expect(translate({ messages })).toMatchObject({
      system: [
        { type: "text", text: "A" },
        { type: "text", text: "B" },
        { type: "text", text: "C" },
      ],
      messages: [hello],
    });
    expect(translate({ messages: messages.slice(0, 1).concat(hello) })["system"]).toBe("A");
  });

  test("results of parallel calls are in one message, before the user's content", () => {
    expect(
      messagesOf(hello, asks(call("c1", '{"a":1}'), call("c2", "")), result("c1"), result("c2", "two"), hello),
    ).toEqual([
      hello,
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "c1", name: "f", input: { a: 1 } },
          { type: "tool_use", id: "c2", name: "f", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "ok" },
          { type: "tool_result", tool_use_id: "c2", content: "two" },
          { type: "text", text: "hello" },
        ],
      },
    ]);
  });

  test("results may hold images", () => {
    const drawn = [{ type: "image_url", image_url: { url: "https://x.test/a.png" } }];
    expect(messagesOf(hello, asks(call("c1")), result("c1", drawn))).toMatchObject([
      hello,
      {},
      {
        content: [
          { type: "tool_result", content: [{ type: "image", source: { type: "url", url: "https://x.test/a.png" } }] },
        ],
      },
    ]);
  });

  test("ids of calls are made plain, the same for call and result", () => {
    const [, asked, answered] = messagesOf(hello, asks(call("functions.f:0")), result("functions.f:0")) as {
      content: { id?: string; tool_use_id?: string }[];
    }[];
    expect(asked?.content[0]?.id).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(answered?.content[0]?.tool_use_id).toBe(asked?.content[0]?.id ?? "");
  });

  test("images and documents keep their bytes and addresses", () => {
    const content = [
      { type: "image_url", image_url: { url: "data:image/jpg;base64,AAAA", detail: "low" } },
      { type: "image_url", image_url: { url: "https://x.test/a.png" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } },
      { type: "file", file: { file_id: "file-1" } },
      { type: "file", file: { filename: "a.txt", file_data: "data:text/plain;base64,aGk=" } },
    ];
    expect(messagesOf({ role: "user", content })).toEqual([
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AAAA" } },
          { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" }, title: "a.pdf" },
          { type: "document", source: { type: "file", file_id: "file-1" } },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "hi" }, title: "a.txt" },
        ],
      },
    ]);
  });

  test("an answer to go on with loses the white space at its end", () => {
    expect(messagesOf(hello, { role: "assistant", content: "1, 2, \n" })).toEqual([
      hello,
      { role: "assistant", content: "1, 2," },
    ]);
  });

  test.each(["[1]", '{"cut', "say hello"])("arguments that are no object, such as %p, stand in one", (said) => {
    expect(messagesOf(hello, asks(call("c1", said)), result("c1"))).toMatchObject([
      hello,
      { content: [{ type: "tool_use", input: { INVALID_JSON: said } }] },
      {},
    ]);
  });

  test.each(["image/JPEG", "image/jpg"])("an image of %s is one of image/jpeg", (type) => {
    const url = `data:${type};base64,AAAA`;
    expect(messagesOf({ role: "user", content: [{ type: "image_url", image_url: { url } }] })).toMatchObject([
      { content: [{ type: "image", source: { media_type: "image/jpeg" } }] },
    ]);
  });

  test.each<[string, JsonObject[], string]>([
    ["nothing", [], "messages"],
    ["only a system prompt", [{ role: "system", content: "A" }], "messages"],
    ["an empty message", [hello, { role: "user", content: "" }], "messages.1.content"],
    ["a message of no known role", [{ role: "function", name: "f", content: "" }], "messages.0.role"],
    ["a part of no known type", [{ role: "user", content: [{ type: "scent" }] }], "messages.0.content.0.type"],
    ["a result without a call", [hello, result("c1")], "messages.1.tool_call_id"],
    ["two results of one call", [hello, asks(call("c1")), result("c1"), result("c1")], "messages.3.tool_call_id"],
    [
      "sound",
      [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] }],
      "messages.0.content.0",
    ],
    [
      "base64 that is none",
      [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,A*" } }] }],
      "messages.0.content.0.image_url.url",
    ],
    [
      "an image of a type that Messages has not",
      [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/tiff;base64,AAAA" } }] }],
      "messages.0.content.0",
    ],
  ])("%s is refused", (_title, messages, param) => {
    expect(refusal({ messages })).toBe(param);
  });
});
