import { expect, test } from "bun:test";
import { endUserOf } from "./end-user.ts";

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
])("of %p and %p", (headers, body, endUser) => {
  expect(endUserOf(new Headers(headers), body)).toBe(endUser);
});
