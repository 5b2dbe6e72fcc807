import { describe, expect, test } from "bun:test";
import { decodedSizeOf } from "../../bodies/index.ts";
import { UNKNOWN_PART_TOKENS } from "../../core/index.ts";
import { boundMessages } from "./bound.ts";
import { messagesRequest } from "./request.ts";

const bound = (body: object) =>
  boundMessages(
    messagesRequest.parse({ model: "claude/x", max_tokens: 5, messages: [{ role: "user", content: "" }], ...body }),
    decodedSizeOf,
  );
const inputOf = (...content: object[]): number => bound({ messages: [{ role: "user", content }] }).inputTokens;

const data = "A".repeat(10_000);

test("the output is bounded by the body's limit", () => {
  expect(bound({ max_tokens: 7 })).toMatchObject({ outputTokens: 7, choices: 1 });
});

test("a budget for thinking leaves room for an answer", () => {
  expect(bound({}).outputTokensMin).toBeUndefined();
  expect(bound({ thinking: { type: "adaptive" } }).outputTokensMin).toBeUndefined();
  expect(bound({ thinking: { type: "enabled", budget_tokens: 2_000 } }).outputTokensMin).toBeGreaterThan(2_000);
});

test("a cache is only written if something is marked for it", () => {
  const marked = (cache_control: object) =>
    bound({ system: [{ type: "text", text: "x", cache_control }] }).inputBuckets;
  expect(bound({}).inputBuckets).toBeUndefined();
  expect(marked({ type: "ephemeral" })).toEqual(["cacheWrite5m"]);
  expect(marked({ type: "ephemeral", ttl: "1h" })).toEqual(["cacheWrite5m", "cacheWrite1h"]);
  expect(bound({ cache_control: { type: "ephemeral" } }).inputBuckets).toEqual(["cacheWrite5m"]);
  expect(
    bound({ tools: [{ name: "f", input_schema: {}, cache_control: { type: "ephemeral" } }] }).inputBuckets,
  ).toEqual(["cacheWrite5m"]);
});

describe("the input is at least its bytes", () => {
  const none = bound({}).inputTokens;

  test.each<[string, object]>([
    ["of a text", { messages: [{ role: "user", content: "é".repeat(5_000) }] }],
    ["of the system prompt", { system: "a".repeat(10_000) }],
    ["of the system prompt in blocks", { system: [{ type: "text", text: "a".repeat(10_000) }] }],
    ["of the tools", { tools: [{ name: "f", input_schema: { description: "a".repeat(10_000) } }] }],
    ["of a schema", { output_config: { format: { schema: { description: "a".repeat(10_000) } } } }],
  ])("%s", (_title, body) => {
    expect(bound(body).inputTokens - none).toBeGreaterThanOrEqual(10_000);
  });

  test.each<[string, object]>([
    ["of a thought", { type: "thinking", thinking: data, signature: "s" }],
    ["of arguments", { type: "tool_use", id: "t", name: "f", input: { data } }],
    ["of a result", { type: "tool_result", tool_use_id: "t", content: data }],
    ["of a document", { type: "document", source: { type: "base64", media_type: "application/pdf", data } }],
    ["of a document in text", { type: "document", source: { type: "text", data } }],
    [
      "of a document in blocks",
      { type: "document", source: { type: "content", content: [{ type: "text", text: data }] } },
    ],
  ])("%s", (_title, block) => {
    const tokens = inputOf(block) - none;
    expect(tokens).toBeGreaterThanOrEqual(10_000);
    expect(tokens).toBeLessThan(11_000);
  });
});

test("a picture's bound does not follow from its length, also within a result", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  expect(inputOf(image)).toBe(inputOf({ ...image, source: { type: "url", url: "https://x.test" } }));
  expect(inputOf({ type: "tool_result", tool_use_id: "t", content: [image] })).toBeLessThan(inputOf(image) + 100);
});

describe("content of unknown size counts as much as is assumed", () => {
  test.each<[string, object]>([
    ["a document by its address", { type: "document", source: { type: "url", url: "https://x.test/a.pdf" } }],
    ["a stored document", { type: "document", source: { type: "file", file_id: "f" } }],
    ["a document without anything", { type: "document" }],
    ["a document whose data is an address", { type: "document", source: { type: "base64", data: "https://x.test" } }],
    ["a file for a program", { type: "container_upload", file_id: "f" }],
  ])("%s", (_title, block) => {
    expect(inputOf(block)).toBeGreaterThanOrEqual(UNKNOWN_PART_TOKENS);
  });

  test.each<[string, object]>([
    ["a page that is fetched", { tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] }],
    ["a program", { tools: [{ type: "code_execution_20250825", name: "code_execution" }] }],
    ["a server of tools", { mcp_servers: [{ url: "https://x.test" }] }],
  ])("%s", (_title, body) => {
    expect(bound(body).inputTokens).toBeGreaterThanOrEqual(UNKNOWN_PART_TOKENS);
  });
});

test("the searches of the web are counted where their number is known", () => {
  expect(bound({ tools: [{ type: "web_search_20250305", name: "web_search" }] }).inputTokens).toBeLessThan(200);
});
