/** Firecrawl's v1 API with its last SDKs, which old clients still use: the paths, the bodies, and the errors that they show. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Firecrawl } from "@mendable/firecrawl-js";
import FirecrawlApp from "firecrawl-v1";
import { type Caller, findPython, post, type Rig, root, startRig, until } from "../kit/index.ts";
import { type CrawlSite, startCrawlSite } from "./site/crawl-site.ts";

const found = await findPython("test/web/python/requirements-v1.txt");
if ("missing" in found) console.log(`skipped: firecrawl-py 2, ${found.missing}`);

let site: CrawlSite;
/** Answers nothing. */
let silent: Bun.Server<undefined>;
/** Receives messages. */
let hook: Bun.Server<undefined>;
const messages: unknown[] = [];
let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  site = await startCrawlSite();
  silent = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => {}) });
  const crawl = { pages_per_second: 0, connections_per_host: 8, per_user: 10 };
  hook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      messages.push(await request.json());
      return new Response();
    },
  });
  const web = {
    allow_private_hosts: [new URL(site.url).host, silent.url.host, hook.url.host],
    crawl,
    model: "openai/gpt-5-mini",
  };
  rig = await startRig({ config: { web } });
  caller = await rig.caller();
});
afterAll(async () => {
  await rig.stop();
  await site.stop();
  await silent.stop(true);
  await hook.stop(true);
});

const client = (): FirecrawlApp => new FirecrawlApp({ apiUrl: rig.gateway.url, apiKey: caller.token });
const pages = [1, 2, 3].map((number) => `/docs/chapter-1/page-${number}`);

/** The message of the error that a call ends with. */
function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "",
    (reason: unknown) => String(reason),
  );
}

/** The members of an answer of which only a few are known. */
const read = (value: unknown): Record<string, unknown> => value as Record<string, unknown>;

test("the SDK for JavaScript scrapes", async () => {
  const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
  const page = read(
    await client().scrapeUrl(`${site.url}/docs/`, {
      formats: ["markdown", "links", "json", "extract"],
      jsonOptions: { schema },
    } as object),
  );
  expect(page).toMatchObject({ success: true, metadata: { statusCode: 200 } });
  expect(page["markdown"]).toBeString();
  expect(page["links"]).toContain(`${site.url}/docs/chapter-1/`);
  expect(page["json"]).toHaveProperty("title");
  expect(page["extract"]).toEqual(page["json"]);
});

test("the SDK for JavaScript crawls, and sees the end, the failures and the pages", async () => {
  const crawl = read(await client().crawlUrl(`${site.url}/docs/`, { limit: 4, maxDepth: 1, ignoreSitemap: true }));
  expect(crawl).toMatchObject({ success: true, status: "completed", completed: 4 });
  expect(crawl).not.toHaveProperty("next");
  const asked = client();
  const started = read(await asked.asyncCrawlUrl(`${site.url}/docs/`, { limit: 2 }));
  const id = String(started["id"]);
  expect(started["url"]).toBe(`${rig.gateway.url}/v1/crawl/${id}`);
  const watched: unknown[] = [];
  const watcher = await asked.crawlUrlAndWatch(`${site.url}/docs/`, { limit: 2 });
  const ended = new Promise((resolve) => watcher.addEventListener("done", resolve));
  watcher.addEventListener("document", ({ detail }) => void watched.push(detail));
  await ended;
  expect(watched.length).toBe(2);
  expect(await asked.checkCrawlErrors(id)).toEqual({ errors: [], robotsBlocked: [] });
  expect(read(await asked.cancelCrawl(id))["success"]).toBe(true);
  expect(read(await asked.checkCrawlStatus(id))["success"]).toBe(true);
}, 60_000);

test("the SDK for JavaScript scrapes a list, which it looks up as a crawl", async () => {
  const batch = read(
    await client().batchScrapeUrls(
      pages.map((path) => site.url + path),
      { formats: ["markdown"] },
    ),
  );
  expect(batch).toMatchObject({ success: true, status: "completed", completed: 3 });
  const started = read(await client().asyncBatchScrapeUrls([`${site.url}/docs/`]));
  expect(read(await client().checkBatchScrapeStatus(String(started["id"])))["success"]).toBe(true);
}, 60_000);

test("the SDK for JavaScript maps and searches", async () => {
  const { links } = read(await client().mapUrl(`${site.url}/docs/`, { limit: 5 }));
  expect(links).toBeArrayOfSize(5);
  expect(links).toEqual(expect.arrayContaining([expect.stringContaining(site.url)]) as unknown[]);
  await client().scrapeUrl(`${site.url}/docs/`);
  const plain = read(await client().search("docs", { limit: 20 }));
  expect(plain["data"]).toEqual(
    expect.arrayContaining([expect.objectContaining({ url: expect.stringContaining(site.url) as string })]) as [],
  );
  const scraped = read(await client().search("docs", { limit: 1, scrapeOptions: { formats: ["markdown"] } }));
  expect(scraped["data"]).toEqual([expect.objectContaining({ markdown: expect.any(String) as string })]);
});

test("errors have the statuses whose messages the SDK shows", async () => {
  const asked = client();
  const refused = await refusal(asked.scrapeUrl(`${site.url}/docs/`, { waitFor: 900_000 }));
  expect(refused).toContain("Status code: 400. Error: waitFor");
  expect(await refusal(asked.scrapeUrl(silent.url.href, { timeout: 1_000 }))).toContain("code: 408");
  expect(await refusal(asked.scrapeUrl("http://127.0.0.1:1/"))).toContain("Status code: 400. Error: The page");
  expect(await refusal(asked.crawlUrl("x y"))).toContain("status code 400. Error: url");
  const answer = await post(rig, "/v1/crawl", caller.token, { url: site.url, limit: 0 });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ success: false, code: "BAD_REQUEST", details: [{ path: ["limit"] }] });
  for (const path of ["/v1/crawl/unknown", "/v1/crawl/a/b/c", "/v1/scrape"]) {
    const unknown = await fetch(rig.gateway.url + path, { headers: { authorization: `Bearer ${caller.token}` } });
    expect([unknown.status, read(await unknown.json())["success"]]).toEqual([404, false]);
  }
  const anonymous = await fetch(`${rig.gateway.url}/v1/team/credit-usage`);
  expect([anonymous.status, read(await anonymous.json())["success"]]).toEqual([401, false]);
});

test("a retry key of one version finds no answer in the shape of the other", async () => {
  const answers = [];
  for (const path of ["/v1/map", "/v2/map", "/v1/map"]) {
    const retry = { headers: { "idempotency-key": "map-of-both" } };
    const answer = await post(rig, path, caller.token, { url: `${site.url}/docs/` }, retry);
    const { links, code } = read(await answer.json());
    answers.push([answer.status, answer.headers.get("idempotent-replayed"), links ?? code]);
  }
  const links = expect.arrayContaining([`${site.url}/docs/`]) as unknown[];
  expect(answers).toEqual([
    [200, null, links],
    [409, null, "idempotency_key_reused"],
    [200, "true", links],
  ]);
});

test("jobs have their objects by the older name in webhooks, too", async () => {
  const headers = { authorization: `Bearer ${caller.token}` };
  await fetch(`${rig.gateway.url}/v1/webhooks/secret`, { method: "POST", headers });
  const formats = { formats: ["extract"], extract: { prompt: "The title." } };
  const job = { urls: [`${site.url}/docs/`], webhook: { url: hook.url.href, events: ["page"] }, ...formats };
  const started = read(await (await post(rig, "/v1/batch/scrape", caller.token, job)).json());
  await until("the message has arrived", () => messages.length > 0, 60_000);
  const [document] = read(messages[0])["data"] as [Record<string, unknown>];
  expect(document["extract"]).toBeObject();
  expect(document["extract"]).toEqual(document["json"]);
  const status = read(await client().checkBatchScrapeStatus(String(started["id"])));
  expect(status["data"]).toEqual([document]);
}, 60_000);

test("jobs of others are not there, and credits are told in v1's words", async () => {
  const started = read(await client().asyncCrawlUrl(`${site.url}/docs/`, { limit: 1 }));
  const other = await rig.caller();
  const headers = { authorization: `Bearer ${other.token}` };
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["GET", "/errors"],
    ["DELETE", "/errors"],
  ] as const) {
    const answer = await fetch(`${rig.gateway.url}/v1/crawl/${String(started["id"])}${path}`, { method, headers });
    expect(answer.status).toBe(404);
  }
  const usage = await fetch(`${rig.gateway.url}/v1/team/credit-usage`, { headers });
  expect(await usage.json()).toMatchObject({
    success: true,
    data: { remaining_credits: expect.any(Number) as number },
  });
  const active = await fetch(`${rig.gateway.url}/v1/crawl/active`, { headers });
  expect(await active.json()).toEqual({ success: true, crawls: [] });
  const tokens = await fetch(`${rig.gateway.url}/v1/team/token-usage`, { headers });
  expect(await tokens.json()).toMatchObject({
    success: true,
    data: { remaining_tokens: expect.any(Number) as number },
  });
});

test("the client of v1 in today's SDK reads the spending of the last months, and the queue", async () => {
  const spender = await rig.caller();
  const { v1 } = new Firecrawl({ apiUrl: rig.gateway.url, apiKey: spender.token });
  await post(rig, "/v1/scrape", spender.token, { url: `${site.url}/docs/` });
  await spender.closed();
  const [month] = read(await v1.getCreditUsageHistorical())["periods"] as Record<string, unknown>[];
  expect(month).toMatchObject({ apiKey: null, creditsUsed: 0.001, totalCredits: 0.001 });
  const [byKey] = read(await v1.getTokenUsageHistorical(true))["periods"] as Record<string, unknown>[];
  expect(byKey).toMatchObject({ apiKey: expect.any(String) as string, tokensUsed: 15, totalTokens: 15 });
  expect(read(await v1.getQueueStatus())).toMatchObject({ success: true, jobsInQueue: 0 });
  const headers = { authorization: `Bearer ${spender.token}` };
  const room = await fetch(`${rig.gateway.url}/v1/concurrency-check`, { headers });
  expect(await room.json()).toMatchObject({ success: true, concurrency: 0 });
});

test("a job has an address of further results for as long as it runs", async () => {
  const urls = [`${site.url}/docs/`, silent.url.href];
  const { id } = read(await (await post(rig, "/v1/batch/scrape", caller.token, { urls })).json());
  const status = async (query = "", version = "v1"): Promise<Record<string, unknown>> => {
    const address = `${rig.gateway.url}/${version}/batch/scrape/${String(id)}${query}`;
    return read(await (await fetch(address, { headers: { authorization: `Bearer ${caller.token}` } })).json());
  };
  await until("one page is read", async () => (await status())["completed"] === 1, 60_000);
  const next = `${rig.gateway.url}/v1/batch/scrape/${String(id)}?skip=1`;
  expect(await status()).toMatchObject({ status: "scraping", next });
  expect(await status("?skip=1")).toMatchObject({ data: [], next });
  expect(await status("", "v2")).toMatchObject({ next: null });
  expect(read(await client().cancelCrawl(String(id)))["success"]).toBe(true);
  expect(await status()).not.toHaveProperty("next");
}, 60_000);

test.skipIf("missing" in found)(
  "the SDK for Python",
  async () => {
    const python = "python" in found ? found.python : "";
    const script = join(root, "test/web/python/v1.py");
    const child = Bun.spawn([python, script, rig.gateway.url, caller.token, site.url, silent.url.href], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, problems] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(await child.exited, problems).toBe(0);
    expect(JSON.parse(output)).toEqual({
      page: [true, true, true, 200],
      crawl: ["completed", 4, 4, 0],
      cancelled: { success: true, status: "cancelled" },
      batch: ["completed", pages.map((path) => site.url + path)],
      failed: ["completed", ["SCRAPE_SITE_ERROR"]],
      errors: [],
      links: expect.arrayContaining([expect.stringContaining(site.url) as string]) as string[],
      found: [true, true, true],
      read: [true, true],
      refused: expect.stringContaining("waitFor") as string,
      private: expect.stringContaining("400. The page") as string,
      slow: expect.stringMatching(/408|[Tt]imeout/) as string,
    });
  },
  60_000,
);
