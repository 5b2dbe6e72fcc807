import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { keyRedactor } from "./redact-keys.ts";

const key = "sk-first/0123+456&789";
const redact = keyRedactor([key, "short"]);

const hexOf = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0");
const names: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

/** Each way in which one character may be written. */
const spellings: ((character: string) => string)[] = [
  (character) => character,
  (character) => `\\u00${hexOf(character)}`,
  (character) => `\\\\u00${hexOf(character).toUpperCase()}`,
  (character) => (/[/"\\]/.test(character) ? `\\${character}` : character),
  (character) => `%${hexOf(character)}`,
  (character) => `%25${hexOf(character).toUpperCase()}`,
  (character) => `&#${character.charCodeAt(0)};`,
  (character) => `&#x${hexOf(character)};`,
  (character) => `&amp;#X0${hexOf(character).toUpperCase()};`,
  (character) => (names[character] === undefined ? character : `&${names[character]};`),
];

/** The key as it is, and the base64 that upstreams repeat. */
const carriers: ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => Buffer.from(secret).toString("base64"),
  (secret) => Buffer.from(secret).toString("base64url"),
  (secret) => Buffer.from(`Bearer ${secret}`).toString("base64"),
  (secret) => Buffer.from(`Bearer ${secret}`).toString("base64url"),
  (secret) => Buffer.from(`:${secret}`).toString("base64"),
];

/** A key of printable characters but for those that begin an escape, which no provider's keys have. */
const secrets = fc.string({
  unit: fc
    .integer({ min: 0x21, max: 0x7e })
    .map((code) => String.fromCharCode(code))
    .filter((character) => !/[\\%&]/.test(character)),
  minLength: 12,
  maxLength: 60,
});

describe("a key", () => {
  test("is found in every way of writing, mixed, at any place", () => {
    const property = fc.property(
      secrets,
      fc.constantFrom(...carriers),
      fc.array(fc.constantFrom(...spellings), { minLength: 1, maxLength: 20 }),
      fc.string(),
      fc.string(),
      (secret, carry, ways, before, after) => {
        const written = Array.from(carry(secret), (character, at) =>
          (ways[at % ways.length] ?? String)(character),
        ).join("");
        // The text before it must not end in half an escape, which would be another one with the key's first character.
        const text = `${before.replaceAll(/[\\%&]/g, "")} ${written} ${after}`;
        const shown = keyRedactor([secret])(text);
        expect(shown).toContain("[redacted]");
        expect(shown).not.toContain(written);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });

  test.each<[string, string]>([
    [`{"error":"Wrong key ${key.replace("/", "\\/")}."}`, '{"error":"Wrong key [redacted]."}'],
    [`<p>Wrong key ${key.replace("&", "&amp;")}\\n</p>`, "<p>Wrong key [redacted]\\n</p>"],
    [`{"error":"line\\n${key}\\n"}`, '{"error":"line\\n[redacted]\\n"}'],
    [`a\\/b ${key} %20 &amp;`, "a\\/b [redacted] %20 &amp;"],
    [`${key}${key}`, "[redacted][redacted]"],
    ["short \\u0073hort", "short \\u0073hort"],
    [`{"a":"\\"${encodeURIComponent(key)}\\""}`, '{"a":"\\"[redacted]\\""}'],
  ])("%p becomes %p", (text, redacted) => {
    expect(redact(text)).toBe(redacted);
  });

  test("that is not there changes nothing", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("\\", "u0073", "%", "25", "6", "&", "amp;", "#", ";", "a", "é", "🙂") }),
        (text) => {
          expect(redact(text)).toBe(text);
        },
      ),
    );
  });
});
