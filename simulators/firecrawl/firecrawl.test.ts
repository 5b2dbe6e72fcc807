import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../index.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import { schemaCheck } from "../testing/schemas.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const fits = schemaCheck("firecrawl");

interface Heard {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

async function ask(method: string, path: string, body?: unknown, key = "fc-test"): Promise<Heard> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(path.startsWith("http") ? path : `${simulators.web.firecrawl}/v2${path}`, init);
  const parsed: unknown = await response.json();
  return { status: response.status, body: asObject(parsed), headers: response.headers };
}

const post = (path: string, body: unknown, key?: string) => ask("POST", path, body, key);

describe("scrape", () => {
  test("a page of the demo site is what the site serves", async () => {
    const { status, body } = await post("/scrape", { url: `${simulators.site}/docs/quickstart` });
    expect(status).toBe(200);
    expect(fits("ScrapeResponse", body)).toEqual([]);
    const data = asObject(body["data"]);
    expect(data["markdown"]).toStartWith("# Quick start");
    expect(data["metadata"]).toMatchObject({
      statusCode: 200,
      creditsUsed: 1,
      sourceURL: `${simulators.site}/docs/quickstart`,
    });
  });

  test("every format has its member", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const formats = [
      "markdown",
      { type: "html" },
      "rawHtml",
      "links",
      "images",
      "summary",
      { type: "screenshot", fullPage: true },
      { type: "json", schema },
    ];
    const { body } = await post("/scrape", { url: "https://example.com/a", formats });
    expect(fits("ScrapeResponse", body)).toEqual([]);
    const data = asObject(body["data"]);
    expect(Object.keys(data).toSorted()).toEqual([
      "html",
      "images",
      "json",
      "links",
      "markdown",
      "metadata",
      "rawHtml",
      "screenshot",
      "summary",
    ]);
    expect(data["json"]).toHaveProperty("city");
    expect(asObject(data["metadata"])["creditsUsed"]).toBe(5);
  });

  test("a missing page of the target is a result, its failures are errors", async () => {
    const missing = await post("/scrape", { url: "https://example.com/404" });
    expect([missing.status, asObject(asObject(missing.body["data"])["metadata"])["statusCode"]]).toEqual([200, 404]);
    const unresolved = await post("/scrape", { url: "https://nowhere.invalid/" });
    expect([unresolved.status, unresolved.body["code"]]).toEqual([500, "SCRAPE_DNS_RESOLUTION_ERROR"]);
    const late = await post("/scrape", { url: "https://example.com/?sim-code=SCRAPE_TIMEOUT" });
    expect([late.status, late.body["code"], late.body["success"]]).toEqual([408, "SCRAPE_TIMEOUT", false]);
  });

  test.each([
    [{ url: "https://example.com", pageOptions: {} }, "unrecognized_keys"],
    [{ url: "https://example.com", formats: ["json"] }, "custom"],
    [{ url: "https://example.com", formats: [{ type: "json" }] }, "custom"],
    [{ url: "https://example.com", waitFor: 40_000 }, "custom"],
    [{ url: "https://example.com", timeout: 10 }, "invalid_type"],
    [{ url: "ftp://example.com" }, "invalid_type"],
    [{}, "invalid_type"],
  ])("%j is refused", async (body, code) => {
    const answer = await post("/scrape", body);
    expect([answer.status, answer.body["code"]]).toEqual([400, "BAD_REQUEST"]);
    expect(asArray(answer.body["details"])).toEqual([expect.objectContaining({ code })]);
  });

  test("keys: missing, of another kind, without credits", async () => {
    const bare = await fetch(`${simulators.web.firecrawl}/v2/scrape`, { method: "POST", body: "{}" });
    expect(bare.status).toBe(401);
    expect((await post("/scrape", { url: "https://example.com" }, "sk-test")).status).toBe(401);
    expect((await post("/scrape", { url: "https://example.com" }, "fc-credits-1")).status).toBe(200);
    const poor = await post("/scrape", { url: "https://example.com" }, "fc-credits-1");
    expect([poor.status, typeof poor.body["error"]]).toEqual([402, "string"]);
  });
});

describe("faults", () => {
  test.each([402, 408, 429, 500, 502])("status %d by address, query and key", async (code) => {
    const byAddress = await post("/scrape", { url: `https://example.com/?sim-fault=status-${code}` });
    expect([byAddress.status, typeof byAddress.body["error"]]).toEqual([code, "string"]);
    expect((await post("/search", { query: `rain fault:status-${code}` })).status).toBe(code);
    expect((await post("/map", { url: "https://example.com" }, `fc-test+status-${code}`)).status).toBe(code);
  });

  test("a limit names the wait, and ends after so many requests", async () => {
    const url = "https://example.com/?sim-fault=status-429,retry-after-2,times-1";
    const first = await post("/scrape", { url });
    expect([first.status, first.headers.get("retry-after")]).toEqual([429, "2"]);
    expect((await post("/scrape", { url })).status).toBe(200);
  });

  test("broken JSON", async () => {
    const headers = { authorization: "Bearer fc-test+malformed", "content-type": "application/json" };
    const body = JSON.stringify({ url: "https://example.com" });
    const text = await (await fetch(`${simulators.web.firecrawl}/v2/scrape`, { method: "POST", headers, body })).text();
    expect(() => JSON.parse(text) as unknown).toThrow();
  });
});

test("map lists the pages of a site, the searched ones first", async () => {
  const { body } = await post("/map", { url: simulators.site, search: "calibration", limit: 5 });
  expect(fits("MapResponse", body)).toEqual([]);
  const links = asArray(body["links"]).map((link) => String(asObject(link)["url"]));
  expect(links).toHaveLength(5);
  expect(links[0]).toBe(`${simulators.site}/docs/calibration`);
});

describe("search", () => {
  test("results by source, with their pages if asked", async () => {
    const { body } = await post("/search", {
      query: "rain gauge",
      limit: 3,
      sources: ["web", "news", { type: "images" }],
    });
    expect(fits("POST /search", body)).toEqual([]);
    const { web, news, images } = asObject(body["data"]);
    expect([web, news, images].map((results) => asArray(results).length)).toEqual([3, 2, 1]);
    expect(body["creditsUsed"]).toBe(2);
    const scraped = await post("/search", { query: "rain gauge", limit: 3, scrapeOptions: { formats: ["markdown"] } });
    expect(fits("POST /search", scraped.body)).toEqual([]);
    expect(scraped.body["creditsUsed"]).toBe(5);
    const [first] = asArray(asObject(scraped.body["data"])["web"]).map(asObject);
    expect(first?.["markdown"]).toBeString();
  });

  test("operators, periods and domains narrow it; nothing found is a success", async () => {
    const urls = async (more: JsonObject): Promise<string[]> => {
      const { body } = await post("/search", { limit: 100, ...more });
      return asArray(asObject(body["data"])["web"]).map((result) => String(asObject(result)["url"]));
    };
    const all = await urls({ query: "frost" });
    expect(all.length).toBeGreaterThan(10);
    const narrowed = [
      await urls({ query: "frost site:wiki.example" }),
      await urls({ query: "frost -site:wiki.example" }),
      await urls({ query: "frost filetype:pdf" }),
      await urls({ query: "frost", tbs: "qdr:m" }),
      await urls({ query: "frost", includeDomains: ["wiki.example"] }),
    ];
    for (const some of narrowed) expect(some.length).toBeWithin(1, all.length);
    expect(await urls({ query: "xyzzyplugh" })).toEqual([]);
  });
});

describe("crawl and batch", () => {
  test("a crawl grows with the clock, in pages of ten documents", async () => {
    const started = await post("/crawl", { url: "https://crawled.example/", limit: 100 });
    expect(fits("CrawlResponse", started.body)).toEqual([]);
    const { id, url } = started.body;
    const early = await ask("GET", String(url));
    expect(early.body["status"]).toBe("scraping");
    const active = await ask("GET", "/crawl/active");
    expect(asArray(active.body["crawls"])).toContainEqual(expect.objectContaining({ id }));
    simulators.advance(10_000);
    const whole = await ask("GET", String(url));
    expect(fits("CrawlStatusResponseObj", whole.body)).toEqual([]);
    expect(whole.body).toMatchObject({ status: "completed", total: 30, completed: 29, creditsUsed: 29 });
    let documents = asArray(whole.body["data"]).length;
    for (let { next } = whole.body; typeof next === "string";) {
      const page = await ask("GET", next);
      documents += asArray(page.body["data"]).length;
      ({ next } = page.body);
    }
    expect(documents).toBe(29);
    const errors = await ask("GET", `/crawl/${String(id)}/errors`);
    expect(fits("CrawlErrorsResponseObj", errors.body)).toEqual([]);
    expect(asArray(errors.body["errors"])).toEqual([
      expect.objectContaining({ url: "https://crawled.example/page-13" }),
    ]);
    simulators.advance(86_400_000);
    expect(await ask("GET", String(url))).toMatchObject({ status: 404, body: { error: "Job expired" } });
  });

  test("a crawl must be affordable as a whole, and belongs to its team", async () => {
    expect((await post("/crawl", { url: "https://crawled.example/" }, "fc-credits-50")).status).toBe(402);
    const { body } = await post(
      "/crawl",
      { url: "https://crawled.example/", limit: 5, includePaths: ["page"] },
      "fc-credits-50",
    );
    const foreign = await ask("GET", `/crawl/${String(body["id"])}`);
    expect([foreign.status, foreign.body]).toEqual([403, { error: "Forbidden" }]);
    expect(await ask("GET", "/crawl/nothing")).toMatchObject({ status: 404, body: { error: "Job not found" } });
    simulators.advance(10_000);
    const usage = await ask("GET", "/team/credit-usage", undefined, "fc-credits-50");
    expect(fits("GET /team/credit-usage", usage.body)).toEqual([]);
    expect(asObject(usage.body["data"])["remainingCredits"]).toBe(45);
  });

  test("cancel stops it", async () => {
    const { body } = await post("/crawl", { url: "https://crawled.example/", limit: 100, maxDiscoveryDepth: 3 });
    const path = `/crawl/${String(body["id"])}`;
    expect(await ask("DELETE", path)).toMatchObject({ status: 200, body: { status: "cancelled" } });
    simulators.advance(10_000);
    expect((await ask("GET", path)).body["status"]).toBe("cancelled");
    expect((await ask("DELETE", "/crawl/nothing")).status).toBe(404);
  });

  test("a batch reads its addresses and names the invalid ones", async () => {
    const urls = ["https://example.com/a", "no address", "https://nowhere.invalid/"];
    const { body } = await post("/batch/scrape", { urls, formats: ["markdown"] });
    expect(fits("BatchScrapeResponseObj", body)).toEqual([]);
    expect(body["invalidURLs"]).toEqual(["no address"]);
    simulators.advance(1_000);
    const status = await ask("GET", String(body["url"]));
    expect(fits("BatchScrapeStatusResponseObj", status.body)).toEqual([]);
    expect(status.body).toMatchObject({ status: "completed", completed: 1, creditsUsed: 1 });
    expect((await post("/batch/scrape", { urls, ignoreInvalidURLs: false })).status).toBe(400);
  });
});

test("the account's queue", async () => {
  const queue = await ask("GET", "/team/queue-status");
  expect(fits("GET /team/queue-status", queue.body)).toEqual([]);
  expect((await ask("GET", "/concurrency-check")).body).toMatchObject({ success: true, maxConcurrency: 50 });
});
