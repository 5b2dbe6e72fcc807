import { expect, test } from "bun:test";
import { GivenAddresses } from "./given-addresses.ts";

const given = new GivenAddresses();
given.add([
  "Read https://a.example/path?q=1, please.",
  { content: [{ text: "See [this](https://b.example/x_(y)) and <https://c.example>." }] },
  "https://user:pass@d.example/ and ftp://e.example/",
]);

test("a long row of what may follow takes no long time", () => {
  const begun = performance.now();
  new GivenAddresses().add(`https://a.example/${")".repeat(100_000)}`);
  expect(performance.now() - begun).toBeLessThan(500);
});

test.each([
  ["https://a.example/path?q=1", true],
  ["https://A.example:443/path?q=1#part", true],
  ["https://b.example/x_(y)", true],
  ["https://c.example/", true],
  // Not whole, or more than was given.
  ["https://a.example/", false],
  ["https://a.example/path", false],
  ["https://a.example/path?q=1&secret=canary", false],
  ["https://a.example/path?q=12", false],
  ["https://a.example.evil.example/path?q=1", false],
  ["https://sub.a.example/path?q=1", false],
  ["http://a.example/path?q=1", false],
  ["https://c.example/canary", false],
  ["https://user:pass@d.example/", false],
  ["ftp://e.example/", false],
  ["javascript:alert(1)", false],
  ["", false],
])("%p may be opened: %p", (address, expected) => {
  expect(given.has(address)).toBe(expected);
});
