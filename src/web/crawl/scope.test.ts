import { describe, expect, test } from "bun:test";
import type { Discovery } from "./crawl-request.ts";
import { pageAddress } from "./page-address.ts";
import { CrawlScope } from "./scope.ts";

const START = "https://www.example.com/docs/";

const usual: Discovery = {
  sitemap: "include",
  depthMax: undefined,
  includePaths: [],
  excludePaths: [],
  matchesFullUrl: false,
  ignoresQuery: false,
  entireDomain: false,
  subdomains: false,
  externalLinks: false,
  robotsUserAgent: undefined,
};

const any = (): boolean => true;

const scopeOf = (discovery: Partial<Discovery> = {}, start = START): CrawlScope =>
  new CrawlScope(start, { ...usual, ...discovery });

/** The addresses that are pages of the crawl. */
function within(scope: CrawlScope, addresses: readonly string[], depth = 1): string[] {
  return addresses.filter((url) => typeof scope.place({ url, depth }, any) === "object");
}

describe("hosts and paths", () => {
  const own = ["https://www.example.com/docs", "https://www.example.com/docs/a", "http://example.com/docs/b?x=1"];
  const elsewhere = [
    "https://www.example.com/",
    "https://www.example.com/docsets/",
    "https://www.example.com/blog/docs/",
  ];
  const subdomain = ["https://docs.example.com/docs/a"];
  const foreign = [
    "https://example.org/docs/",
    "https://notexample.com/docs/",
    "https://example.com.evil.org/docs/",
    "https://www.example.com:8443/docs/",
  ];
  const addresses = [...own, ...elsewhere, ...subdomain, ...foreign];

  test.each<[string, Partial<Discovery>, string[]]>([
    ["below the start's path by default", {}, own],
    ["the whole domain", { entireDomain: true }, [...own, ...elsewhere]],
    ["subdomains, below the same path", { subdomains: true }, [...own, ...subdomain]],
    ["other sites", { externalLinks: true }, [...own, ...subdomain, ...foreign]],
  ])("%s", (_, discovery, expected) => {
    expect(within(scopeOf(discovery), addresses)).toEqual(expected);
  });

  test("a start that is a file stands for its folder", () => {
    const scope = scopeOf({}, "https://example.com/docs/index.html");
    expect(within(scope, ["https://example.com/docs/a", "https://example.com/other"])).toEqual([
      "https://example.com/docs/a",
    ]);
  });

  test.each([
    ["another scheme", "ftp://www.example.com/docs/a"],
    ["a name and a password", "https://me:secret@www.example.com/docs/a"],
    ["no address", "https://[docs"],
    ["a picture", "https://www.example.com/docs/a.PNG?size=2"],
    ["a program", "https://www.example.com/docs/setup.exe"],
    ["a path that leads out", "https://www.example.com/docs/../admin"],
    ["an address without end", `https://www.example.com/docs/${"a".repeat(20_000)}`],
  ])("%s is no page of the crawl", (_, url) => {
    expect(scopeOf().place({ url, depth: 1 }, any)).toBeUndefined();
  });
});

describe("patterns", () => {
  const isWanted = ({ pathname }: URL): boolean => pathname.startsWith("/docs/en/");
  const placed = (url: string, discovery: Partial<Discovery> = {}) =>
    typeof scopeOf(discovery).place({ url, depth: 1 }, isWanted);

  test("decide beside the host and the path", () => {
    expect(placed("https://www.example.com/docs/en/a")).toBe("object");
    expect(placed("https://www.example.com/docs/de/a")).toBe("undefined");
    expect(placed("https://example.org/docs/en/a")).toBe("undefined");
  });

  test("bound other sites as well", () => {
    expect(placed("https://example.org/docs/en/a", { externalLinks: true })).toBe("object");
    expect(placed("https://example.org/docs/de/a", { externalLinks: true })).toBe("undefined");
  });

  test("are compared with the path, or on demand with the whole address", () => {
    const url = new URL("https://www.example.com/docs/en/a?b=c");
    expect(scopeOf().comparedPart(url)).toBe("/docs/en/a");
    expect(scopeOf({ matchesFullUrl: true }).comparedPart(url)).toBe(url.href);
  });

  test("are none for a request without them", () => {
    expect(scopeOf().patterns).toBeUndefined();
    expect(scopeOf({ excludePaths: ["a"] }).patterns).toEqual({ include: [], exclude: ["a"] });
  });
});

describe("depth", () => {
  const url = `${START}a`;

  test("is bounded by the request", () => {
    const scope = scopeOf({ depthMax: 2 });
    expect([1, 2, 3].map((depth) => typeof scope.place({ url, depth }, any))).toEqual([
      "object",
      "object",
      "undefined",
    ]);
    expect(scopeOf({ depthMax: 0 }).place({ url, depth: 0 }, any)).toBeDefined();
  });

  test("is bounded without a request, and named then", () => {
    const scope = scopeOf();
    expect(typeof scope.place({ url, depth: 100 }, any)).toBe("object");
    expect(scope.place({ url, depth: 101 }, any)).toBe("TOO_DEEP");
  });
});

describe("traps", () => {
  /** How many of the addresses pass, and the trap of the first that does not. */
  function passing(count: number, addressOf: (index: number) => string): [number, string | undefined] {
    const scope = scopeOf({ entireDomain: true });
    for (let index = 0; index < count; index += 1) {
      const placed = scope.place({ url: `https://example.com${addressOf(index)}`, depth: 1 }, any);
      const trap = typeof placed === "object" ? scope.trapOf(placed) : placed;
      if (trap !== undefined) return [index, trap];
    }
    return [count, undefined];
  }

  const hex = (index: number): string => `a1${index.toString(16).padStart(8, "0")}`;
  const number = (index: number): number => index + 1;

  test.each<[string, number, string | undefined, (index: number) => string]>([
    ["days in the query", 100, "CALENDAR", (index) => `/events?date=${2000 + index}-01-01&view=list`],
    ["months in the path", 100, "CALENDAR", (index) => `/events/${1900 + Math.floor(index / 12)}/${(index % 12) + 1}`],
    [
      "dates as one segment",
      100,
      "CALENDAR",
      (index) => `/events/${2000 + index}-${(index % 12) + 1}-${(index % 28) + 1}`,
    ],
    ["sessions in the path", 50, "SESSION_IDS", (index) => `/s/${hex(index)}/catalog`],
    ["paths that repeat themselves", 3, "REPEATING_PATH", (index) => `/${"more/".repeat(number(index))}`],
    [
      "paths of many segments",
      30,
      "REPEATING_PATH",
      (index) => `/${Array.from({ length: number(index) }, (_, at) => `x${at}`).join("/")}`,
    ],
    [
      "articles below the date of each",
      200,
      undefined,
      (index) => `/blog/2026/11/${(index % 28) + 1}/article-${index}`,
    ],
    ["numbered pages", 200, undefined, (index) => `/blog?page=${index}`],
    ["a range in the query", 100, "CALENDAR", (index) => `/events?from=${2000 + index}-01-01`],
    [
      "dates of eight digits",
      100,
      "CALENDAR",
      (index) => `/events/${2000 + Math.floor(index / 12)}${10 + (index % 3)}${10 + (index % 12)}`,
    ],
    ["numbered items", 200, undefined, (index) => `/items/${100_000_000 + index}`],
    ["items of eight digits", 200, undefined, (index) => `/items/${12_345_678 + index}`],
    ["items whose numbers are like years", 200, undefined, (index) => `/items/${1_900 + index}`],
    ["positions in a list", 200, undefined, (index) => `/topics?id=${index}&start=20`],
    ["pages with an id of their own", 200, undefined, (index) => `/pages/${hex(index)}`],
  ])("%s: %d pass", (_, passed, trap, addressOf) => {
    expect(passing(200, addressOf)).toEqual([passed, trap]);
  });

  test("shapes without end are not counted without end", () => {
    const [passed, trap] = passing(20_000, (index) => `/section-${index}/2026/11`);
    expect([passed, trap]).toEqual([20_000, undefined]);
  });
});

describe("spellings of one address are one page", () => {
  const keyOf = (text: string, discovery: Partial<Discovery> = {}): string => {
    const url = pageAddress(text);
    if (url === undefined) throw new Error(`${text} is no page`);
    return scopeOf(discovery).pageAt(url, 0).key;
  };

  test.each([
    "http://example.com/a?x=1&y=2",
    "https://example.com/a/?y=2&x=1",
    "https://WWW.EXAMPLE.COM:443/a?x=1&y=2#part",
    "https://example.com/b/../a?x=1&y=2",
    "https://example.com/a?x=1&utm_source=mail&y=2&fbclid=1",
    "https://example.com/a;jsessionid=0A1B?x=1&y=2",
    "https://example.com/a/index.html?x=1&y=2&PHPSESSID=f00",
  ])("%s", (text) => {
    expect(keyOf(text)).toBe(keyOf("https://example.com/a?x=1&y=2"));
  });

  test.each([
    "https://example.com/A?x=1&y=2",
    "https://example.com/a?x=2&y=1",
    "https://example.com/a",
    "https://docs.example.com/a?x=1&y=2",
  ])("but not %s", (text) => {
    expect(keyOf(text)).not.toBe(keyOf("https://example.com/a?x=1&y=2"));
  });

  test("and without the query, if that is ignored", () => {
    const discovery = { ignoresQuery: true };
    expect(keyOf("https://example.com/a?x=1", discovery)).toBe(keyOf("https://example.com/a", discovery));
  });
});
