import { expect, test } from "bun:test";
import { quoteOf, Sources } from "./sources.ts";

const page = { title: "A", text: "" };

test.each([
  ["https://a.example/", "https://a.example"],
  ["https://a.example/x?q=1", "https://a.example/x?q=1#part"],
  ["https://a.example/x", "https://a.example/x?utm_source=model"],
  ["https://a.example/x?q=1", "https://a.example/x?q=1&utm_source=model#part"],
])("%p is the page %p", (one, other) => {
  const sources = new Sources();
  const { number } = sources.add({ ...page, url: one });
  expect(sources.withAddress(other)?.number).toBe(number);
});

test("another query is another page", () => {
  const sources = new Sources();
  sources.add({ ...page, url: "https://a.example/x?utm_source=model&q=1" });
  expect(sources.withAddress("https://a.example/x")).toBeUndefined();
});

// An expression without a start would take minutes for each.
test("addresses and texts that a client has written may be of any length", () => {
  const sources = new Sources();
  const urls = [`${"#".repeat(1_000_000)}\n`, `${"?utm_source=".repeat(100_000)}&`, "/".repeat(1_000_000)];
  expect(urls.map((url) => sources.add({ ...page, url }).number)).toEqual([1, 2, 3]);
  expect(quoteOf({ ...page, number: 1, url: "", text: `${" ".repeat(1_000_000)}x` })).toBe("");
});
