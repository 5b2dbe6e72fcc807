/** The rules of robots.txt, from real servers on the loopback interface. */
import { afterEach, describe, expect, test } from "bun:test";
import { CallAborter, type CallSignal } from "../../core/index.ts";
import { outboundTo } from "../__fixtures__/outbound-to.ts";
import { failureOf } from "../../../test/kit/failure-of.ts";
import { Robots, type RobotsRules } from "./robots.ts";

const HOUR = 3_600_000;
const stopping: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
});

interface Site {
  url: string;
  /** Requests for robots.txt. */
  readonly asked: number;
  /** The rules at this time. */
  rules(at?: number): Promise<RobotsRules>;
  /** The rules as they are now. */
  rulesNow(options: { timeoutMs: number; signal: CallSignal }): Promise<RobotsRules>;
}

function siteWith(answer: () => Response | Promise<Response>): Site {
  let asked = 0;
  let now = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      if (new URL(url).pathname !== "/robots.txt") return new Response("Not here", { status: 404 });
      asked += 1;
      return answer();
    },
  });
  stopping.push(() => server.stop(true));
  const url = `http://127.0.0.1:${server.port}`;
  const robots = new Robots({ outbound: outboundTo(url), clock: () => now, userAgent: "Tollgate/1" });
  return {
    url,
    get asked() {
      return asked;
    },
    rules(at = now) {
      now = at;
      return robots.of(`${url}/any?page=1`);
    },
    rulesNow: (options) => robots.now(`${url}/any?page=1`, options),
  };
}

const siteOf = (text: string): Site => siteWith(() => new Response(text));

/** Whether each path may be read. */
async function allowed(site: Site, paths: readonly string[], agent?: string): Promise<boolean[]> {
  const rules = await site.rules();
  return paths.map((path) => rules.isAllowed(site.url + path, agent));
}

describe("rules", () => {
  test("are compared with addresses however both are escaped", async () => {
    const site = siteOf("User-agent: *\nDisallow: /%7Ejoe\nDisallow: /%61bc\nDisallow: /x%2Fy\nDisallow: /%c3%bc\n");
    const paths = ["/~joe/", "/%7ejoe", "/abc", "/a%62c", "/x%2fy", "/x/y", "/\u00fc", "/other"];
    expect(await allowed(site, paths)).toEqual([false, false, false, false, false, true, false, true]);
  });

  test("of the longest match, with wildcards and an end", async () => {
    const site = siteOf(
      ["User-agent: *", "Disallow: /private/", "Allow: /private/open", "Disallow: /*.pdf$", "Disallow: /*?sort="].join(
        "\n",
      ),
    );
    const paths = [
      "/",
      "/private/",
      "/private/1",
      "/private/open",
      "/a/b.pdf",
      "/a/b.pdf?x=1",
      "/list?sort=up",
      "/privat",
    ];
    expect(await allowed(site, paths)).toEqual([true, false, false, true, false, true, false, true]);
  });

  test("for the gateway's name, or the name that the request asks with", async () => {
    const site = siteOf(
      "User-agent: *\nDisallow: /all\n\nUser-agent: tollgate\nDisallow: /ours\nCrawl-delay: 2\n\nUser-agent: Reader\nAllow: /\n",
    );
    expect(await allowed(site, ["/all", "/ours"])).toEqual([true, false]);
    expect(await allowed(site, ["/all", "/ours"], "Reader")).toEqual([true, true]);
    expect(await allowed(site, ["/all", "/ours"], "Somebody")).toEqual([false, true]);
    const rules = await site.rules();
    expect([rules.delayMs(undefined), rules.delayMs("Reader")]).toEqual([2_000, 0]);
  });

  test("in a file with a byte order mark, carriage returns and comments", async () => {
    const site = siteOf("\uFEFFUser-agent: * # all\r\nDisallow: /a # not this\r\n\r\nSitemap: /map.xml\r\n");
    expect(await allowed(site, ["/a/b", "/b"])).toEqual([false, true]);
  });

  test("name sitemaps", async () => {
    const site = siteOf("Sitemap: https://example.com/a.xml\nsitemap: https://example.com/b.xml\n");
    expect((await site.rules()).sitemaps).toEqual(["https://example.com/a.xml", "https://example.com/b.xml"]);
  });

  test("that are none forbid nothing", async () => {
    const site = siteOf(`<!doctype html><title>Home</title>${"\u0000\u00ff<p>".repeat(1_000)}`);
    expect(await allowed(site, ["/", "/a"])).toEqual([true, true]);
    expect((await site.rules()).problem(undefined)).toBeUndefined();
  });
});

describe("the crawl delay", () => {
  test.each<[string, number, string | undefined]>([
    ["0.5", 500, undefined],
    ["30", 30_000, undefined],
    ["86400", 30_000, "CRAWL_DELAY_CAPPED"],
    ["1e300", 30_000, "CRAWL_DELAY_CAPPED"],
    ["-5", 0, undefined],
    ["soon", 0, undefined],
  ])("%s is %d ms", async (text, expected, problem) => {
    const rules = await siteOf(`User-agent: *\nCrawl-delay: ${text}\n`).rules();
    expect([rules.delayMs(undefined), rules.problem(undefined)]).toEqual([expected, problem as never]);
  });
});

test("a crawl delay is capped for the name that it is demanded of", async () => {
  const rules = await siteOf("User-agent: *\nCrawl-delay: 1\n\nUser-agent: Reader\nCrawl-delay: 60\n").rules();
  expect([rules.delayMs("Reader"), rules.problem("Reader")]).toEqual([30_000, "CRAWL_DELAY_CAPPED"]);
  expect([rules.delayMs(undefined), rules.problem(undefined)]).toEqual([1_000, undefined]);
});

describe("bounds", () => {
  test("what is beyond the first bytes is not obeyed, nor half a rule", async () => {
    // The last line within the bound is cut in the middle: as a whole rule it would forbid everything.
    const head = "User-agent: *\nDisallow: /first\n";
    const cut = "Disallow: /";
    const filler = `#${"x".repeat(512 * 1024 - head.length - cut.length - 2)}\n`;
    const site = siteOf(`${head}${filler}${cut}last\nDisallow: /later\n`);
    expect((await site.rules()).problem(undefined)).toBe("ROBOTS_TRUNCATED");
    expect(await allowed(site, ["/first", "/last", "/later", "/other"])).toEqual([false, true, true, true]);
  });

  test("a file without end is left after its beginning", async () => {
    let pieces = 0;
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const piece = Buffer.from("Disallow: /never\n".repeat(4_000));
    const site = siteWith(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(Buffer.from("User-agent: *\nDisallow: /first\n")),
            pull(controller) {
              pieces += 1;
              controller.enqueue(piece);
            },
            cancel: () => resolve(),
          }),
        ),
    );
    const rules = await site.rules();
    expect([rules.problem(undefined), rules.isAllowed(`${site.url}/first`, undefined)]).toEqual([
      "ROBOTS_TRUNCATED",
      false,
    ]);
    // Sockets hold some more than was read.
    expect(pieces * piece.byteLength).toBeLessThan(100 * 1024 * 1024);
    await cancelled;
  });

  test("rules beyond the first 5,000 lines are not obeyed", async () => {
    const many = Array.from({ length: 6_000 }, (_, index) => `Disallow: /${index}-`).join("\n");
    const site = siteOf(`User-agent: *\n${many}\n`);
    expect(await allowed(site, ["/0-", "/4998-", "/4999-", "/5999-"])).toEqual([false, false, true, true]);
    expect((await site.rules()).problem(undefined)).toBe("ROBOTS_TRUNCATED");
  });

  test("rules beyond the first 30,000 characters behind wildcards are not obeyed", async () => {
    const slow = `Disallow: /${"*a".repeat(45)}b$`;
    const site = siteOf(`User-agent: *\nDisallow: /first\n${`${slow}\n`.repeat(5_000)}Disallow: /last\n`);
    expect(await allowed(site, ["/first", "/last", `/${"a".repeat(2_000)}`])).toEqual([false, true, true]);
    expect((await site.rules()).problem(undefined)).toBe("ROBOTS_TRUNCATED");
  });

  test("a thousand usual rules with wildcards are obeyed", async () => {
    const usual = Array.from({ length: 1_000 }, (_, index) => `Disallow: /*/p${index}?sort=`).join("\n");
    const site = siteOf(`User-agent: *\n${usual}\n`);
    expect(await allowed(site, ["/a/p999?sort=up", "/a/p1000?sort=up"])).toEqual([false, true]);
    expect((await site.rules()).problem(undefined)).toBeUndefined();
  });

  test("a pattern that takes backtracking engines exponential time does not", async () => {
    const site = siteOf(`User-agent: *\nDisallow: /${"*a".repeat(200)}$\n`);
    expect(await allowed(site, [`/${"a".repeat(1_500)}b`])).toEqual([true]);
  });
});

describe("a server", () => {
  test.each([404, 403, 410])("that answers %d has no rules", async (status) => {
    const site = siteWith(() => new Response("User-agent: *\nDisallow: /", { status }));
    expect(await allowed(site, ["/a"])).toEqual([true]);
  });

  test.each([500, 503])("that answers %d is not crawled, and asked again after a minute", async (status) => {
    const site = siteWith(() => new Response("", { status }));
    const rules = await site.rules();
    expect([rules.isAllowed(`${site.url}/a`, undefined), rules.problem(undefined)]).toEqual([
      false,
      "ROBOTS_UNAVAILABLE",
    ]);
    await site.rules(59_000);
    expect(site.asked).toBe(1);
    await site.rules(61_000);
    expect(site.asked).toBe(2);
  });

  test("that has too many requests is not crawled, and asked again when it says so", async () => {
    const waits = ["120", "Thu, 01 Jan 1970 00:05:00 GMT", "0", "soon", undefined];
    const site = siteWith(() => {
      const wait = waits.shift();
      return new Response("", { status: 429, headers: wait === undefined ? {} : { "retry-after": wait } });
    });
    const found: unknown[] = [];
    for (const at of [0, 119_000, 120_001, 299_000, 300_001, 301_500, 361_000, 362_000]) {
      const rules = await site.rules(at);
      expect([rules.isAllowed(`${site.url}/a`, undefined), rules.problem(undefined)]).toEqual([
        false,
        "ROBOTS_UNAVAILABLE",
      ]);
      found.push([site.asked, rules.retryAfterMs]);
    }
    expect(found).toEqual([
      [1, 120_000],
      [1, 120_000],
      [2, 179_999],
      [2, 179_999],
      [3, 0],
      [4, undefined],
      [4, undefined],
      [5, undefined],
    ]);
  });

  test("is asked once an hour, also by many at once", async () => {
    const site = siteOf("User-agent: *\nDisallow: /a\n");
    await Promise.all(Array.from({ length: 20 }, () => site.rules()));
    await site.rules(HOUR - 1);
    expect(site.asked).toBe(1);
    await site.rules(HOUR + 1);
    expect(site.asked).toBe(2);
  });

  test("is asked again by a caller that wants to know it now, in its own time", async () => {
    const { promise: never } = Promise.withResolvers<Response>();
    const texts = ["Sitemap: /a.xml", "Sitemap: /b.xml"];
    const site = siteWith(() => {
      const text = texts.shift();
      return text === undefined ? never : new Response(text);
    });
    const { signal } = new CallAborter();
    expect((await site.rules()).sitemaps).toEqual(["/a.xml"]);
    expect((await site.rulesNow({ timeoutMs: 10_000, signal })).sitemaps).toEqual(["/b.xml"]);
    expect((await site.rulesNow({ timeoutMs: 1, signal })).problem(undefined)).toBe("ROBOTS_UNAVAILABLE");
    const ended = new CallAborter();
    ended.abort(new Error("hung up"));
    expect(await failureOf(site.rulesNow({ timeoutMs: 10_000, signal: ended.signal }))).toMatchObject({
      message: "hung up",
    });
    expect((await site.rules()).sitemaps).toEqual(["/a.xml"]);
  });

  test("may not lead to a private address", async () => {
    const site = siteWith(() => Response.redirect("http://127.0.0.2:1/robots.txt", 302));
    expect(await allowed(site, ["/a"])).toEqual([true]);
  });
});
