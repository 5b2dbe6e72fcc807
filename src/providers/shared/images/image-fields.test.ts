import { expect, test } from "bun:test";
import { fitImageFields, imageHints, opaqueOnly } from "./image-fields.ts";

const rules = { drops: imageHints, only: opaqueOnly };

test("hints and the upstream's fixed behaviour are dropped, other values are refused", () => {
  expect(fitImageFields({ prompt: "a", moderation: "low", background: "auto" }, rules)).toEqual({ prompt: "a" });
  expect(() => fitImageFields({ background: "transparent" }, rules)).toThrow("leave it out, or use auto or opaque");
});

test.each(["__proto__", "constructor", "toString"])("a field named %s is like any other unknown field", (name) => {
  const body = JSON.parse(`{"prompt":"a","${name}":[1]}`) as Record<string, unknown>;
  expect(JSON.stringify(fitImageFields(body, rules))).toBe(JSON.stringify(body));
});
