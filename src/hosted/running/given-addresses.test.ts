import { expect, test } from "bun:test";
import { GivenAddresses } from "./given-addresses.ts";

const given = new GivenAddresses();
await given.add([
  "Read https://a.example/path?q=1, please.",
  { content: [{ text: "See [this](https://b.example/x_(y)) and <https://c.example>." }] },
  "https://user:pass@d.example/ and ftp://e.example/",
  "[https://h.example/text](https://h.example/address)",
  "https://f.example/?to=https://g.example/",
]);

test("an address in a long row of what may follow, and among many others, is found", async () => {
  const many = new GivenAddresses();
  await many.add([`https://a.example/${")".repeat(100_000)}`, "https://b.example/1)))))) ".repeat(50_000)]);
  await many.add(Array.from({ length: 3_000 }, (_, index) => `https://c.example/${index}`));
  expect([many.has("https://a.example/"), many.has("https://b.example/1")]).toEqual([true, true]);
  expect([many.has("https://C.example/1999"), many.has("https://c.example/canary")]).toEqual([true, false]);
});

test("hosts are known by their other spellings", async () => {
  const spelled = new GivenAddresses();
  await spelled.add("HTTPS://Bücher.Example/a http://0x7f.1/b https://A%2Eexample/c https://[::0001]/d");
  for (const address of [
    "https://xn--bcher-kva.example/a",
    "http://127.0.0.1/b",
    "https://a.example/c",
    "https://[::1]/d",
  ])
    expect(spelled.has(address)).toBe(true);
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
  ["https://h.example/text", true],
  ["https://h.example/address", true],
  ["https://f.example/?to=https://g.example/", true],
  ["https://g.example/", false],
  ["ftp://e.example/", false],
  ["javascript:alert(1)", false],
  ["", false],
])("%p may be opened: %p", (address, expected) => {
  expect(given.has(address)).toBe(expected);
});
