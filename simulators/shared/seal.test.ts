import { expect, test } from "bun:test";

import fc from "fast-check";

import { sealOf } from "./seal.ts";

const seal = sealOf("one", "EqQB");

test("a sealed payload opens, always has the same text, and reveals nothing of its content", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (payload) => {
      const text = seal.close(payload);
      expect(seal.close(payload)).toBe(text);
      expect(JSON.stringify(seal.open(text))).toBe(JSON.stringify(payload));
      expect(text).toStartWith("EqQB");
    }),
  );
  expect(Buffer.from(seal.close("a thought that nobody reads"), "base64").toString()).not.toContain("thought");
});

test("one altered character, or another maker, does not open", () => {
  const text = seal.close({ thought: "x" });
  for (let index = 0; index < text.length; index++) {
    const other = text[index] === "A" ? "B" : "A";
    expect(seal.open(text.slice(0, index) + other + text.slice(index + 1)), String(index)).toBeUndefined();
  }
  for (const wrong of [sealOf("two", "EqQB").close({ thought: "x" }), text.slice(1), `${text}=`, "", "EqQB", null, 5]) {
    expect(seal.open(wrong)).toBeUndefined();
  }
});
