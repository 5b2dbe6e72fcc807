import { expect, test } from "bun:test";
import { endUserOf, sessionHeaders, sessionOf } from "./naming-headers.ts";

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

const tollgate = "x-tollgate-end-user";
const litellm = "x-litellm-end-user-id";

test.each<[headers: Record<string, string>, body: Record<string, unknown> | undefined, endUser: string | undefined]>([
  [{}, undefined, undefined],
  [{}, {}, undefined],
  [{}, { user: "u-1" }, "u-1"],
  [{}, { user: "", safety_identifier: "s-1" }, "s-1"],
  [{}, { metadata: { user_id: "a-1" } }, "a-1"],
  [{ [litellm]: "l-1" }, { user: "u-1" }, "l-1"],
  [{ [litellm]: "l-1", [tollgate]: "t-1" }, undefined, "t-1"],
  [{ [tollgate]: "" }, { user: "u-1" }, "u-1"],
  [{}, { user: "x".repeat(128) }, "x".repeat(128)],
  [{}, { user: "x".repeat(129), safety_identifier: "s-1" }, undefined],
  [{}, { user: "a\0b" }, undefined],
  [{}, { user: "zoë" }, undefined],
  [{}, { user: 7, metadata: "m", safety_identifier: null }, undefined],
  [{}, { metadata: { user_id: { id: "a-1" } } }, undefined],
])("the end user of %p and %p", (headers, body, endUser) => {
  expect(endUserOf(new Headers(headers), body)).toBe(endUser);
});
