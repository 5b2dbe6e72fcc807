import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import { asOpaque } from "./measure.ts";
import { parseBody } from "./parse-body.ts";

const schema = z.looseObject({ said: z.unknown().optional(), other: z.string().optional() });

/** The rest of the text, and the size of each of its strings. */
function parsed(said: unknown, more: object = {}) {
  const { body, sizeOf } = parseBody(Buffer.from(JSON.stringify({ ...more, said })), schema, ["said"]);
  return { body, sizeOf };
}

const long = "x".repeat(2_000);

describe("a long string of an opaque field", () => {
  test("is reduced to its beginning, and keeps its size", () => {
    const { body, sizeOf } = parsed(long);
    const said = String(body.said);
    expect(said).toHaveLength(67);
    expect(said).toStartWith("x".repeat(64));
    expect(sizeOf(asOpaque(said))).toBe(2_000);
  });

  test("keeps it within other text too", () => {
    const { body, sizeOf } = parsed({ a: [long, { b: long }] });
    const written = JSON.stringify(body.said);
    expect(written.length).toBeLessThan(200);
    expect(sizeOf(asOpaque(written))).toBe(JSON.stringify({ a: [long, { b: long }] }).length);
  });

  test("is measured in bytes of UTF-8, at most", () => {
    const letter = fc.constantFrom("a", "é", "€", "😀", '"', "\\", "\n", "\t");
    const letters = fc.array(letter, { minLength: 513, maxLength: 700 }).map((each) => each.join(""));
    const property = fc.property(letters, (text) => {
      const { body, sizeOf } = parsed(text);
      const size = sizeOf(asOpaque(String(body.said)));
      expect(size).toBeGreaterThanOrEqual(Buffer.byteLength(text));
      expect(size).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify(text)));
    });
    fc.assert(property, { numRuns: 50 });
  });

  test("is measured exactly without escapes, wherever it is cut", () => {
    for (const before of ["", "a", "ab", "abc"]) {
      const text = before + "😀é".repeat(200);
      const { body, sizeOf } = parsed(text);
      expect(sizeOf(asOpaque(String(body.said)))).toBe(Buffer.byteLength(text));
    }
  });

  test("keeps its beginning: a URL stays a URL, a data URL a data URL", () => {
    expect(parsed(`https://a.example/${long}`).body.said).toStartWith("https://a.example/x");
    expect(parsed(`data:image/png;base64,${long}`).body.said).toStartWith("data:image/png;base64,x");
    expect(parsed(`ab"\\${long}`).body.said).toMatch(/^ab\ue0000\ue001$/);
  });

  test("is not parsed; the text around it is", () => {
    const body = (text: string) => () => parseBody(Buffer.from(text), schema, ["said"]);
    expect(body(`{"said":"${long}\\x"}`)).not.toThrow();
    expect(body(`{"said":"${long}" "x"}`)).toThrow("not valid JSON");
    expect(body(`{"said":"${long}}`)).toThrow("not valid JSON");
    expect(body(`{"said":"short\\x"}`)).toThrow("not valid JSON");
  });
});

test("short strings, and those of other members of the schema, are read whole", () => {
  const { body, sizeOf } = parsed("short", { other: `${long}é` });
  expect(body).toEqual({ other: `${long}é`, said: "short" });
  expect(sizeOf(asOpaque("short"))).toBe(5);
});

test("long strings of members that the schema does not contain are truncated; their neighbours are decoded", () => {
  const { body } = parsed("short", { unknown: { long, short: "é" }, neighbour: "é" });
  const { unknown, neighbour } = body as { unknown?: { long: string }; neighbour?: string };
  expect([unknown?.long.length, neighbour]).toEqual([67, "é"]);
});

test("a string of megabytes in a member that is read is refused", () => {
  expect(() => parsed("short", { other: "x".repeat(1024 * 1024 - 2) })).not.toThrow();
  expect(() => parsed("short", { other: "x".repeat(1024 * 1024) })).toThrow("other: a text here has at most 1048576");
  expect(() => parsed("short", { unknown: "x".repeat(1024 * 1024) })).not.toThrow();
});

test("a mark written by a caller counts as itself, or as more", () => {
  const forged = "\u{e000}0\ue001";
  const { body, sizeOf } = parsed(["a\ue0007\ue001", forged, long]);
  const [first, second] = body.said as string[];
  expect(sizeOf(asOpaque(first ?? ""))).toBe(Buffer.byteLength("a\ue0007\ue001"));
  expect(sizeOf(asOpaque(second ?? ""))).toBeGreaterThanOrEqual(Buffer.byteLength(forged));
});
