import { expect, test } from "bun:test";
import { writtenBytes } from "./calls.ts";

const content = [
  { type: "thinking", thinking: "hm", signature: "text" },
  { type: "mcp_tool_use", name: "echo", input: { text: "abc" } },
  { type: "mcp_tool_result", content: [{ type: "text", text: "Tool echo: abc" }] },
  { type: "server_tool_use", name: "web_search", input: { query: "x" } },
  { type: "server_tool_use", name: "web_search", input: { query: "y" }, caller: { type: "code_execution_20260120" } },
  {
    type: "text",
    text: "héllo",
    citations: [{ type: "web_search_result_location", cited_text: "a page", title: "t" }],
  },
];

test("what a model has written is its text, its thought and its calls", () => {
  const calls = '{"text":"abc"}'.length + '{"query":"x"}'.length;
  expect(writtenBytes(JSON.stringify({ type: "message", content }))).toBe(2 + calls + 6);
});

test("of a message that breaks off, its text and thought up to there", () => {
  const text =
    '{"content":[{"type":"text","text":"hello","citations":[{"cited_text":"a page"}]},{"type":"text","text":"wor';
  expect(writtenBytes(text)).toBe(8);
});
