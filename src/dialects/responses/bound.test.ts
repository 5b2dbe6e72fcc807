import { describe, expect, test } from "bun:test";
import { decodedSizeOf } from "../../bodies/index.ts";
import { UNKNOWN_PART_TOKENS } from "../../core/index.ts";
import { Measure } from "../../bodies/index.ts";
import { boundItems, responsesCodec, responsesRequest } from "./index.ts";

const bound = (body: object) =>
  responsesCodec.bound(responsesRequest.parse({ model: "openai/x", input: "", ...body }), decodedSizeOf);
const none = bound({}).inputTokens;
const inputOf = (...items: object[]): number => bound({ input: items }).inputTokens;
const partOf = (part: object): number => inputOf({ role: "user", content: [part] });

const data = "A".repeat(10_000);

test("the output is bounded by the body's limit", () => {
  expect(bound({ max_output_tokens: 70 })).toMatchObject({ outputTokens: 70, choices: 1 });
  expect(bound({})).toMatchObject({ outputTokens: undefined, choices: 1 });
});

describe("the input is at least its bytes", () => {
  test.each<[string, object]>([
    ["of a text", { input: "é".repeat(5_000) }],
    ["of the instructions", { instructions: data }],
    ["of the tools", { tools: [{ type: "function", name: "f", parameters: { description: data } }] }],
    ["of a schema", { text: { format: { type: "json_schema", schema: { description: data } } } }],
  ])("%s", (_title, body) => {
    expect(bound(body).inputTokens - none).toBeGreaterThanOrEqual(10_000);
  });

  test.each<[string, object]>([
    ["of a message", { role: "user", content: data }],
    ["of a message in parts", { type: "message", role: "user", content: [{ type: "input_text", text: data }] }],
    ["of what a model said", { type: "message", role: "assistant", content: [{ type: "output_text", text: data }] }],
    ["of arguments", { type: "function_call", call_id: "c", name: "f", arguments: data }],
    ["of a result", { type: "function_call_output", call_id: "c", output: data }],
    [
      "of a result in parts",
      { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: data }] },
    ],
    ["of a thought in cipher", { type: "reasoning", id: "r", summary: [], encrypted_content: data }],
    ["of a file", { role: "user", content: [{ type: "input_file", file_data: data }] }],
  ])("%s", (_title, item) => {
    const tokens = inputOf(item) - none;
    expect(tokens).toBeGreaterThanOrEqual(10_000);
    expect(tokens).toBeLessThan(11_000);
    expect(boundItems([item as never], new Measure(decodedSizeOf))).toBeGreaterThanOrEqual(10_000);
  });
});

test("a picture's bound does not follow from its length, also within a result", () => {
  const picture = { type: "input_image", image_url: `data:image/png;base64,${data}` };
  expect(partOf(picture)).toBe(partOf({ type: "input_image", file_id: "f" }));
  const result = inputOf({ type: "function_call_output", call_id: "c", output: [picture] });
  expect(result).toBeLessThan(partOf(picture) + 100);
});

describe("content of unknown size counts as much as is assumed", () => {
  test.each<[string, object]>([
    ["what an earlier response holds", { previous_response_id: "resp_1" }],
    ["a conversation", { conversation: "conv_1" }],
    ["a stored prompt", { prompt: { id: "p" } }],
    ["a program", { tools: [{ type: "code_interpreter", container: { type: "auto" } }] }],
    ["a server of tools", { tools: [{ type: "mcp", server_url: "https://x.test" }] }],
    ["a reference", { input: [{ type: "item_reference", id: "msg_1" }] }],
    ["an item of a tool", { input: [{ type: "computer_call_output", call_id: "c", output: {} }] }],
    ["a stored file", { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] }],
    [
      "a file by its address",
      { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://x.test" }] }] },
    ],
    ["a video", { input: [{ role: "user", content: [{ type: "input_video", video_url: "https://x.test" }] }] }],
  ])("%s", (_title, body) => {
    expect(bound(body).inputTokens).toBeGreaterThanOrEqual(UNKNOWN_PART_TOKENS);
  });
});

test.each(["web_search", "web_search_preview_2025_03_11", "x_search", "file_search", "collections_search"])(
  "%s is counted where the number of its runs is known",
  (type) => {
    expect(bound({ tools: [{ type }] }).inputTokens).toBeLessThan(200);
  },
);
