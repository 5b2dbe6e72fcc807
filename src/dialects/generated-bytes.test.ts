import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chatKeys } from "./chat/generated-keys.ts";
import { generatedBytes } from "./generated-bytes.ts";

const count = (json: unknown): number =>
  generatedBytes(Buffer.from(typeof json === "string" ? json : JSON.stringify(json)), chatKeys);

/** Bytes that a text takes in JSON, without its quotes, and with one byte for a control character. */
const bytesOf = (text: string): number => {
  const json = JSON.stringify(text).replaceAll("\\u0000", "0");
  return Buffer.byteLength(json) - 2;
};

/** JSON with every letter beyond ASCII escaped, as Python writes it. */
function inAscii(json: object): string {
  const units = new Uint16Array(Uint8Array.from(Buffer.from(JSON.stringify(json), "utf16le")).buffer);
  const letters = Array.from(units, (unit) =>
    unit < 0x80 ? String.fromCodePoint(unit) : String.raw`\u${unit.toString(16).padStart(4, "0")}`,
  );
  return letters.join("");
}

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
      "no quotations",
      {
        choices: [
          { delta: { content: "ab", annotations: [{ url_citation: { content: 'a "page" ]}', title: "[" } }] } },
          { delta: { content: "cd", annotations: null } },
          { delta: { content: "", annotations: [] } },
        ],
      },
      4,
    ],
    ["no sealed thought, as at BytePlus", { choices: [{ delta: { content: "ab", encrypted_content: "AAAA" } }] }, 2],
    ["nested quotations once", { content: "ab", annotations: [{ content: "c", annotations: [{ text: "d" }] }] }, 2],
    ["a thought once", { choices: [{ delta: { reasoning: "hmm", reasoning_details: [{ text: "hmm" }] } }] }, 3],
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

  test("without quotations that break off", () => {
    expect(count('{"content":"ab","annotations":[{"content":"cd')).toBe(2);
    expect(count('{"content":"ab","annotations":')).toBe(2);
    expect(count('{"content":"ab","annotations"')).toBe(2);
  });

  test("whether or not its letters are escaped", () => {
    const content = "भारत, für 中文 und 😀: \\u0939 \\ud83d";
    const escaped = inAscii({ choices: [{ delta: { content } }] });
    expect(escaped).toContain(String.raw`\u092d`);
    expect(count(escaped)).toBe(bytesOf(content));
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

test("nor do many short texts before an escape", () => {
  const started = performance.now();
  const contents = Array.from({ length: 300_000 }, () => ({ content: "ab" }));
  expect(count(`${JSON.stringify(contents)}\\u0939`)).toBe(600_000);
  expect(performance.now() - started).toBeLessThan(10_000);
});
