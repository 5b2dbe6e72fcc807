import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chatKeys } from "./chat/generated-keys.ts";
import { generatedBytes } from "./generated-bytes.ts";

const count = (json: unknown): number =>
  generatedBytes(Buffer.from(typeof json === "string" ? json : JSON.stringify(json)), chatKeys);

/** Bytes that a text takes in JSON, without its quotes. */
const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

describe("generated text is counted", () => {
  test.each<[string, object, number]>([
    ["content", { choices: [{ delta: { role: "assistant", content: "hello" } }] }, 5],
    ["empty content", { choices: [{ delta: { content: "" } }] }, 0],
    ["null content", { choices: [{ delta: { content: null } }] }, 0],
    ["reasoning at DeepSeek", { choices: [{ delta: { reasoning_content: "hmm", content: null } }] }, 3],
    ["reasoning at Groq", { choices: [{ delta: { reasoning: "hmm" } }] }, 3],
    ["a refusal", { choices: [{ delta: { refusal: "no" } }] }, 2],
    [
      "parts, as Mistral thinks",
      { choices: [{ delta: { content: [{ type: "thinking", thinking: [{ type: "text", text: "abc" }] }] } }] },
      3,
    ],
    [
      "arguments of tools",
      { choices: [{ delta: { tool_calls: [{ function: { name: "f", arguments: '{"a":1}' } }] } }] },
      bytesOf('{"a":1}'),
    ],
    ["several choices", { choices: [{ delta: { content: "ab" } }, { delta: { content: "cd" } }] }, 4],
    [
      "nothing else",
      {
        id: "chatcmpl-1",
        model: "gpt",
        object: "content",
        choices: [{ delta: { role: "assistant" }, finish_reason: "stop" }],
      },
      0,
    ],
  ])("%s", (_, json, bytes) => {
    expect(count(json)).toBe(bytes);
  });

  test("whatever the white space", () => {
    expect(count('{"choices": [{"delta": {"content": "hello"}}]}')).toBe(5);
    expect(count('{"content" :  "hello"}')).toBe(5);
  });

  test("as often as it comes", () => {
    expect(count('data: {"content":"ab"}\n\ndata: {"content":"cde"}\n\n')).toBe(5);
  });

  test("up to the end if a string has none", () => {
    expect(count('{"content":"abc')).toBe(3);
    expect(count(String.raw`{"content":"abc\"`)).toBe(5);
    expect(count('{"content":')).toBe(0);
    expect(count('{"content"')).toBe(0);
  });
});

test("any text counts its bytes in JSON, whatever its content", () => {
  const tricky = fc.constantFrom(
    'content":"',
    '\\"',
    "\\",
    '"',
    "\n",
    "data: [DONE]",
    '{"content":"x"}',
    "é",
    "😀",
    "\u0000",
  );
  const text = fc.array(fc.oneof(tricky, fc.string({ maxLength: 5 })), { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, text, (content, reasoning, other) => {
      const chunk = {
        id: other,
        choices: [{ delta: { content, reasoning_content: reasoning }, finish_reason: other }],
        model: other,
      };
      expect(count(chunk)).toBe(bytesOf(content) + bytesOf(reasoning));
    }),
    { numRuns: 500 },
  );
});

test("a long answer takes no longer than its length", () => {
  const started = performance.now();
  expect(count({ content: '\\"'.repeat(1_000_000) })).toBe(4_000_000);
  // If it took the square of it, it would take hours.
  expect(performance.now() - started).toBeLessThan(10_000);
});
