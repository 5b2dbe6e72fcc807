import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { carriers, spell, spellings } from "./__fixtures__/spellings.ts";
import { keyRedactor } from "./redact-keys.ts";

const key = "sk-first/0123+456&789";
const redact = keyRedactor([key, "short"]);

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
      // Escapes within escapes: HTML in JSON in a URL.
      fc.array(fc.constantFrom(...spellings), { maxLength: 2 }),
      fc.string(),
      fc.string(),
      (secret, carry, ways, outer, before, after) => {
        const written = outer.reduce((text, way) => spell(text, [way]), spell(carry(secret), ways));
        // The text before it must not end in half an escape, which would be another one with the key's first character.
        const text = `${before.replaceAll(/[\\%&]/g, "")} ${written} ${after}`;
        const shown = keyRedactor([secret])(text);
        expect(shown).toContain("[redacted]");
        expect(shown).not.toContain(written);
      },
    );
    fc.assert(property, { numRuns: 1_000 });
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

  test("is found in the base64 of a longer text, but for what its ends share with others", () => {
    fc.assert(
      fc.property(
        secrets,
        fc.string(),
        fc.string(),
        fc.constantFrom("base64", "base64url"),
        (secret, before, after, as) => {
          const text = Buffer.from(before + secret + after).toString(as);
          const shown = keyRedactor([secret])(text);
          const decoded = shown.split("[redacted]").map((part) => Buffer.from(part, as).toString("latin1"));
          expect(shown).toContain("[redacted]");
          for (const part of decoded) expect(part).not.toContain(secret.slice(1, -1));
        },
      ),
    );
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
