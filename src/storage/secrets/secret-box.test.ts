import { randomBytes } from "node:crypto";
import { expect, test } from "bun:test";
import { SecretBox } from "./secret-box.ts";
import { SecretError } from "./secret-error.ts";

const key = "0123456789abcdef0123456789abcdef";
const kind = { label: "secrets of tests", noun: "secret", remedy: "make another" };
const box = new SecretBox(key, kind);

test("opens what was sealed with the same key for the same owner", () => {
  const sealed = box.seal("whsec_x", "alice", randomBytes);
  expect(sealed).not.toContain("whsec_x");
  expect(new SecretBox(key, kind).open(sealed, "alice")).toBe("whsec_x");
});

test("seals the same secret differently each time", () => {
  expect(box.seal("whsec_x", "alice", randomBytes)).not.toBe(box.seal("whsec_x", "alice", randomBytes));
});

test("does not open a row of another owner, of another key, or a changed one", () => {
  const sealed = box.seal("whsec_x", "alice", randomBytes);
  const [version, keyId, data = ""] = sealed.split(".");
  const bytes = Buffer.from(data, "base64");
  const changed = bytes.map((byte, index) => (index === 15 ? byte ^ 1 : byte));
  const shortTag = bytes.subarray(0, -4);
  expect(() => box.open(sealed, "bob")).toThrow(SecretError);
  expect(() => new SecretBox(`${key}!`, kind).open(sealed, "alice")).toThrow("encrypted with another key");
  for (const other of [Buffer.from(changed), shortTag, Buffer.alloc(0)]) {
    expect(() => box.open([version, keyId, other.toString("base64")].join("."), "alice")).toThrow("is damaged");
  }
  expect(() => new SecretBox(key, { ...kind, label: "others" }).open(sealed, "alice")).toThrow(SecretError);
  expect(() => box.open("", "alice")).toThrow(SecretError);
});
