import { describe, expect, test } from "bun:test";
import { AddressSet } from "./address-set.ts";
import { rankLinks } from "./rank-links.ts";

function setOf(options: Partial<ConstructorParameters<typeof AddressSet>[0]> = {}): AddressSet {
  const scope = { hosts: new Set(["example.com"]), includesSubdomains: true };
  return new AddressSet({ scope, ignoresQuery: true, countMax: 100, ...options });
}

describe("the addresses of a site", () => {
  test.each([
    ["fragments", "https://example.com/a#x", "https://example.com/a#y"],
    ["a last slash", "https://example.com/a", "https://example.com/a/"],
    ["queries", "https://example.com/a?b=1", "https://example.com/a?c"],
    ["www", "https://example.com/a", "https://www.example.com/a"],
    ["http", "https://example.com/a", "http://example.com/a"],
    ["a default port", "https://example.com/a", "https://example.com:443/a"],
  ])("are one, whatever their %s", (_, first, second) => {
    const set = setOf();
    set.add(first);
    set.add(second);
    expect(set.links).toHaveLength(1);
  });

  test("differ by query if that matters", () => {
    const set = setOf({ ignoresQuery: false });
    set.add("https://example.com/a?b=1");
    set.add("https://example.com/a?b=2");
    expect(set.links.map(({ url }) => url)).toEqual(["https://example.com/a?b=1", "https://example.com/a?b=2"]);
  });

  test.each([
    ["another site", "https://example.org/"],
    ["a name that only ends alike", "https://notexample.com/"],
    ["no web address", "mailto:a@example.com"],
    ["a script", "javascript:void 0"],
    ["nonsense", "http://"],
  ])("leave out %s", (_, address) => {
    const set = setOf();
    set.add(address);
    expect(set.links).toEqual([]);
  });

  test("hold subdomains as requested", () => {
    const own = setOf({ scope: { hosts: new Set(["example.com"]), includesSubdomains: false } });
    for (const set of [own, setOf()]) set.add("https://docs.example.com/");
    expect(own.links).toEqual([]);
    const all = setOf();
    all.add("https://docs.example.com/");
    expect(all.links).toHaveLength(1);
  });

  test("are bounded, and a later title completes an earlier address", () => {
    const set = setOf({ countMax: 2 });
    const added = ["a", "b", "c"].map((path) => set.add(`https://example.com/${path}`));
    expect(added).toEqual([true, true, false]);
    expect(set.add("https://example.com/a/", { title: "A" })).toBe(true);
    expect(set.add("https://example.org/")).toBe(true);
    expect(set.links).toEqual([{ url: "https://example.com/a", title: "A" }, { url: "https://example.com/b" }]);
  });
});

describe("a search among links", () => {
  const link = (path: string, title?: string) => ({ url: `https://example.com/${path}`, ...(title && { title }) });

  test("puts what fits best first and keeps the order of the others", async () => {
    const links = [
      link("about"),
      link("blog/pricing-news"),
      link("pricing"),
      link("x", "Pricing of plans"),
      link("jobs"),
    ];
    const paths = (await rankLinks(links, "pricing plans")).map(({ url }) => new URL(url).pathname);
    expect(paths).toEqual(["/x", "/blog/pricing-news", "/pricing", "/about", "/jobs"]);
  });

  test("survives addresses that are no UTF-8", async () => {
    expect(await rankLinks([link("%E4")], "a")).toHaveLength(1);
  });
});
