import { expect, test } from "bun:test";
import { warningOf } from "./page-warning.ts";

const plain = { isRendered: false, onlyMainContent: true, hasSelectors: false };

test("a warning names what was seen and what to try", () => {
  expect(warningOf({}, plain)).toBeUndefined();
  expect(warningOf({ warning: "x" }, plain)).toBe("x");
  expect(warningOf({ doubt: "empty" }, plain)).toBe(
    "The page has no text. Try onlyMainContent: false, or waitFor, which reads it in a browser.",
  );
  expect(warningOf({ doubt: "empty" }, { ...plain, isRendered: true, onlyMainContent: false })).toBe(
    "The page has no text.",
  );
  expect(warningOf({ doubt: "empty" }, { ...plain, hasSelectors: true })).toBe(
    "The page has no text. Try other includeTags.",
  );
  expect(warningOf({ doubt: "unfilled" }, plain)).toContain("Try waitFor");
  expect(warningOf({ doubt: "challenge", warning: "x" }, plain)).toMatch(/check for robots.* x$/);
  expect(warningOf({ doubt: "empty", warning: "Scripts make this page." }, plain)).toBe("Scripts make this page.");
});
