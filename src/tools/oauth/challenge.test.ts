import { expect, test } from "bun:test";
import { challengeParameters } from "./challenge.ts";
import { withoutSlashes } from "./without-slashes.ts";

test("parameters are read in any order, with quotes or without", () => {
  const found = challengeParameters(
    'Basic realm="x", Bearer scope = "a b", Resource_Metadata="https://a.example/\\"", error=none',
  );
  expect(Object.fromEntries(found)).toEqual({
    scope: "a b",
    resource_metadata: 'https://a.example/\\"',
    error: "none",
  });
});

// An expression without a start would take minutes for each.
test("texts that a server has chosen may be of any length", () => {
  expect(challengeParameters(`Bearer ${"a".repeat(1_000_000)}`).size).toBe(0);
  expect(challengeParameters(`Bearer ${"a ".repeat(500_000)}`).size).toBe(0);
  expect(withoutSlashes(`https://a.example/${"/".repeat(1_000_000)}x`)).toEndWith("/x");
  expect(withoutSlashes("https://a.example//")).toBe("https://a.example");
});
