import { describe, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { issueToken, parseToken, secretMatches } from "./token.ts";

const real = (size: number): Uint8Array => randomBytes(size);

describe("a new token", () => {
  test("has an id and 256 bits of secret, and provides only the secret's SHA-256 for storage", () => {
    const issued = issueToken(real);
    expect(issued.token).toMatch(/^tg_[0-9a-z]{12}_[A-Za-z0-9_-]{43}$/);
    const parsed = parseToken(issued.token);
    expect(parsed?.id).toBe(issued.id);
    expect(Buffer.from(parsed?.secret ?? "", "base64url").length).toBe(32);
    expect(Buffer.from(issued.secretHash).toString("hex")).toBe(
      createHash("sha256")
        .update(parsed?.secret ?? "")
        .digest("hex"),
    );
  });

  test("requests 32 random bytes for the secret and uses all of them", () => {
    const requested: number[] = [];
    const issued = issueToken((size) => {
      requested.push(size);
      return new Uint8Array(size).fill(size === 32 ? 0xff : 1);
    });
    expect(requested.at(-1)).toBe(32);
    expect(issued.token).toBe(`tg_757575757575_${"_".repeat(42)}8`);
  });

  test("is unique", () => {
    const tokens = Array.from({ length: 500 }, () => issueToken(real));
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(500);
    expect(new Set(tokens.map(({ token }) => token.slice(16))).size).toBe(500);
  });
});

describe("a presented token", () => {
  const { token, id, secretHash } = issueToken(real);
  const secret = token.slice(16);

  test.each<[string, string]>([
    ["nothing", ""],
    ["a prefix", "tg_"],
    ["another prefix", token.replace("tg_", "tk_")],
    ["no secret", `tg_${id}`],
    ["an empty secret", `tg_${id}_`],
    ["a secret too short", token.slice(0, -1)],
    ["a secret too long", `${token}A`],
    ["an id too short", token.replace(id, id.slice(1))],
    ["capitals in the id", token.replace(id, id.toUpperCase().replace(/^./, "A"))],
    ["a line break behind it", `${token}\n`],
    ["a space before it", ` ${token}`],
    ["base64 of the other alphabet", `${token.slice(0, -1)}+`],
    ["a NUL", `${token.slice(0, -1)}\u0000`],
  ])("with %s is not one of ours", (_, presented) => {
    expect(parseToken(presented)).toBeUndefined();
  });

  test("matches only its own secret", () => {
    expect(parseToken(token)).toEqual({ id, secret });
    expect(secretMatches(secret, secretHash)).toBe(true);
    fc.assert(
      fc.property(fc.nat(42), fc.constantFrom("A", "Z", "a", "z", "0", "9", "-", "_"), (at, character) => {
        const changed = secret.slice(0, at) + character + secret.slice(at + 1);
        expect(secretMatches(changed, secretHash)).toBe(changed === secret);
      }),
    );
  });

  test("matches no hash of another length, and no empty one", () => {
    expect(secretMatches(secret, secretHash.slice(0, 16))).toBe(false);
    expect(secretMatches(secret, new Uint8Array())).toBe(false);
    expect(secretMatches("", secretHash)).toBe(false);
  });
});
