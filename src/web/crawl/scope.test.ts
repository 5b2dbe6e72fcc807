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

const scopeOf = (discovery: Partial<Discovery> = {}, start = START): Promise<CrawlScope> =>
  CrawlScope.of(start, { ...usual, ...discovery });

/** The addresses that are pages of the crawl. */
function within(scope: CrawlScope, addresses: readonly string[], depth = 1): string[] {
  return addresses.filter((url) => typeof scope.place({ url, depth }) === "object");
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
  const all = [...own, ...elsewhere, ...subdomain, ...foreign];

  test.each<[string, Partial<Discovery>, string[]]>([
    ["below the start's path by default", {}, own],
    ["the whole domain", { entireDomain: true }, [...own, ...elsewhere]],
    ["subdomains, below the same path", { subdomains: true }, [...own, ...subdomain]],
    ["other sites", { externalLinks: true }, [...own, ...subdomain, ...foreign]],
  ])("%s", async (_, discovery, expected) => {
    expect(within(await scopeOf(discovery), all)).toEqual(expected);
  });

  test("a start that is a file stands for its folder", async () => {
    const scope = await scopeOf({}, "https://example.com/docs/index.html");
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
  ])("%s is no page of the crawl", async (_, url) => {
    expect((await scopeOf()).place({ url, depth: 1 })).toBeUndefined();
  });
});

describe("patterns", () => {
  const pages = ["/docs/en/a", "/docs/en/old/b", "/docs/de/a"].map((path) => `https://www.example.com${path}`);

  test.each<[string, Partial<Discovery>, number[]]>([
    ["include", { includePaths: ["^/docs/en/"] }, [0, 1]],
    ["one of several", { includePaths: ["/old/", "^/docs/de"] }, [1, 2]],
    ["exclude", { excludePaths: ["/old/"] }, [0, 2]],
    ["exclude goes first", { includePaths: ["/en/"], excludePaths: ["/old/"] }, [0]],
    ["paths only", { includePaths: ["example"] }, []],
    ["whole addresses", { includePaths: ["^https://www\\.example\\.com/docs/de"], matchesFullUrl: true }, [2]],
  ])("%s", async (_, discovery, expected) => {
    expect(within(await scopeOf(discovery), pages)).toEqual(expected.flatMap((index) => pages[index] ?? []));
  });

  test("a start that no pattern includes is read for its links only", async () => {
    const scope = await scopeOf({ includePaths: ["^/docs/en/"] });
    expect(scope.isWanted(new URL(START))).toBe(false);
  });

  test("bound other sites as well", async () => {
    const scope = await scopeOf({ externalLinks: true, excludePaths: ["^/private"] });
    expect(within(scope, ["https://example.org/private/a", "https://example.org/open"])).toEqual([
      "https://example.org/open",
    ]);
  });

  test("one that is none is refused with its place", async () => {
    const refused = await scopeOf({ excludePaths: ["^/a", "("] }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: "validation_failed", param: "excludePaths.1" });
    // RE2 has no look-ahead: it could take exponential time.
    expect(await scopeOf({ includePaths: ["(?=a)"] }).catch((thrown: unknown) => thrown)).toMatchObject({
      param: "includePaths.0",
    });
  });

  test.each([
    ["one that repeats much", ["x{0,1000}".repeat(55)], 0],
    ["one that repeats a repetition", ["(?:(?:x{0,31}){0,31}y?){1}".repeat(9)], 0],
    ["many that are large together", Array.from({ length: 100 }, () => "[a-z]{0,100}/[0-9]{50}"), 7],
  ])("%s is refused: addresses are compared with it beside all other calls", async (_, includePaths, index) => {
    const refused = await scopeOf({ includePaths }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: "validation_failed", param: `includePaths.${index}` });
  });

  test("a hundred usual ones are not", async () => {
    const includePaths = Array.from({ length: 100 }, (_, index) => `^/docs/v${index}/.*`);
    expect(within(await scopeOf({ includePaths }), [`${START}v7/a`, `${START}w7/a`])).toEqual([`${START}v7/a`]);
  });

  test("one that takes other engines exponential time is evaluated in linear time", async () => {
    const scope = await scopeOf({ includePaths: ["^/docs/(a+)+$"] });
    expect(within(scope, [`https://www.example.com/docs/${"a".repeat(1_000)}!`])).toEqual([]);
  });
});

describe("depth", () => {
  const url = `${START}a`;

  test("is bounded by the request", async () => {
    const scope = await scopeOf({ depthMax: 2 });
    expect([1, 2, 3].map((depth) => typeof scope.place({ url, depth }))).toEqual(["object", "object", "undefined"]);
    expect((await scopeOf({ depthMax: 0 })).place({ url, depth: 0 })).toBeDefined();
  });

  test("is bounded without a request, and named then", async () => {
    const scope = await scopeOf();
    expect(typeof scope.place({ url, depth: 100 })).toBe("object");
    expect(scope.place({ url, depth: 101 })).toBe("TOO_DEEP");
  });
});

describe("traps", () => {
  /** How many of the addresses pass, and the trap of the first that does not. */
  async function passing(count: number, addressOf: (index: number) => string): Promise<[number, string | undefined]> {
    const scope = await scopeOf({ entireDomain: true });
    for (let index = 0; index < count; index += 1) {
      const placed = scope.place({ url: `https://example.com${addressOf(index)}`, depth: 1 });
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
  ])("%s: %d pass", async (_, passed, trap, addressOf) => {
    expect(await passing(200, addressOf)).toEqual([passed, trap]);
  });

  test("shapes without end are not counted without end", async () => {
    const [passed, trap] = await passing(20_000, (index) => `/section-${index}/2026/11`);
    expect([passed, trap]).toEqual([20_000, undefined]);
  });
});

describe("spellings of one address are one page", () => {
  const keyOf = async (text: string, discovery: Partial<Discovery> = {}): Promise<string> => {
    const url = pageAddress(text);
    if (url === undefined) throw new Error(`${text} is no page`);
    return (await scopeOf(discovery)).pageAt(url, 0).key;
  };

  test.each([
    "http://example.com/a?x=1&y=2",
    "https://example.com/a/?y=2&x=1",
    "https://WWW.EXAMPLE.COM:443/a?x=1&y=2#part",
    "https://example.com/b/../a?x=1&y=2",
    "https://example.com/a?x=1&utm_source=mail&y=2&fbclid=1",
    "https://example.com/a;jsessionid=0A1B?x=1&y=2",
    "https://example.com/a/index.html?x=1&y=2&PHPSESSID=f00",
  ])("%s", async (text) => {
    expect(await keyOf(text)).toBe(await keyOf("https://example.com/a?x=1&y=2"));
  });

  test.each([
    "https://example.com/A?x=1&y=2",
    "https://example.com/a?x=2&y=1",
    "https://example.com/a",
    "https://docs.example.com/a?x=1&y=2",
  ])("but not %s", async (text) => {
    expect(await keyOf(text)).not.toBe(await keyOf("https://example.com/a?x=1&y=2"));
  });

  test("and without the query, if that is ignored", async () => {
    const discovery = { ignoresQuery: true };
    expect(await keyOf("https://example.com/a?x=1", discovery)).toBe(await keyOf("https://example.com/a", discovery));
  });
});
