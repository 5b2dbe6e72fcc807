import { describe, expect, test } from "bun:test";
import { affinityOf } from "./affinity.ts";

const long = "x".repeat(5_000);

function affinity(body: Record<string, unknown>, headers: Record<string, string> = {}): string | undefined {
  const bytes = Buffer.from(JSON.stringify(body));
  return affinityOf({ headers: new Headers(headers), received: { kind: "json", bytes, body } });
}

const user = (content: string) => ({ role: "user", content });
const system = { role: "system", content: long };

describe("the calls of one session have in common", () => {
  test.each([["x-tollgate-session"], ["x-claude-code-session-id"], ["session-id"], ["session_id"]])(
    "the header %s",
    (name) => {
      const body = { messages: [user(long)], prompt_cache_key: "k" };
      expect(affinity(body, { [name]: "s1" })).toBe("s1");
    },
  );

  test("else the key of the prompt's cache", () => {
    expect(affinity({ messages: [user(long)], prompt_cache_key: "k" })).toBe("k");
  });

  test.each<[string, (turn: unknown[]) => Record<string, unknown>]>([
    ["chat", (turn) => ({ messages: [system, user("first"), ...turn] })],
    ["messages", (turn) => ({ system: [{ type: "text", text: long }], messages: [user("first"), ...turn] })],
    ["responses", (turn) => ({ instructions: long, input: [user("first"), ...turn] })],
  ])("else the system prompt and the first message, in %s", (_, bodyOf) => {
    const first = affinity(bodyOf([]));
    const later = affinity(bodyOf([{ role: "assistant", content: "a" }, user("second")]));
    expect([first?.includes("first"), later]).toEqual([true, first]);
    const other = JSON.parse(JSON.stringify(bodyOf([])).replace("first", "another")) as Record<string, unknown>;
    expect(affinity(other)).not.toBe(first);
  });

  test("a text as the whole input", () => {
    expect(affinity({ input: `${long}a` })).toContain("xxx");
  });
});

test.each<[string, Record<string, unknown>]>([
  ["a short input", { messages: [user("hi")], prompt_cache_key: "k" }],
  ["no input", { model: long }],
])("%s has no session", (_, body) => {
  expect(affinity(body)).toBeUndefined();
});

test.each<[string, unknown]>([
  ["a number", 7],
  ["nothing", null],
  ["a list of nothing", []],
  ["nested nothing", [[null]]],
])("%s in place of messages is no fault", (_, messages) => {
  expect(() => affinity({ messages, prompt_cache_key: { a: 1 }, other: long })).not.toThrow();
});

test("the calls that a long answer of Google's takes, whose token only one key can read", () => {
  const body = (more: object, generationConfig: object = {}) => ({
    contents: [{ role: "user", parts: [{ text: "Write a book." }] }],
    generationConfig,
    ...more,
  });
  const first = affinity(body({}, { maxOutputTokens: 100_000 }));
  expect(first).toContain("book");
  expect(affinity(body({ continuationToken: "abc" }, { maxOutputTokens: 100_000 }))).toBe(first);
  expect(affinity(body({ continuation_token: "abc" }))).toBe(first);
  expect(affinity(body({}, { maxOutputTokens: 32_768 }))).toBeUndefined();
});

test("a form has none", () => {
  expect(
    affinityOf({ headers: new Headers({ "x-tollgate-session": "s" }), received: { kind: "form" } }),
  ).toBeUndefined();
});
