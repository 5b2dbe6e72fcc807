import { expect, test } from "bun:test";
import { sessionHeaders, sessionOf } from "./session-headers.ts";

test.each(sessionHeaders)("%s names the session", (name) => {
  expect(sessionOf(new Headers({ [name]: "thread-1" }))).toBe("thread-1");
});

test("the first header counts, and no header is no session", () => {
  const all = Object.fromEntries(sessionHeaders.map((name) => [name, name]));
  expect(sessionOf(new Headers(all))).toBe("x-tollgate-session");
  expect(sessionOf(new Headers({ "x-litellm-session-id": "b", session_id: "a" }))).toBe("a");
  expect(sessionOf(new Headers({ "x-tollgate-session": "", "session-id": "a" }))).toBe("a");
  expect(sessionOf(new Headers({ "x-request-id": "a" }))).toBeUndefined();
});

test.each<[string, string, string | undefined]>([
  ["of 128 characters", "a".repeat(128), "a".repeat(128)],
  ["of 129 characters", "a".repeat(129), undefined],
  ["with spaces and marks", "my thread, 'two'", "my thread, 'two'"],
  ["with a tab", "a\tb", undefined],
  ["beyond ASCII", "caf\u00e9", undefined],
])("a name %s", (_, value, session) => {
  expect(sessionOf(new Headers({ "x-tollgate-session": value }))).toBe(session);
});
