/** Crawls and batches with Firecrawl's own SDK, over a site with everything that leads crawlers astray. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { type CrawlJob, type Document, Firecrawl } from "@mendable/firecrawl-js";
import { type Caller, expectCleanAudit, oneCredit, post, type Rig, startRig, until } from "../kit/index.ts";
import { everything, failing, forbiddenByRobots, docsOnly, missing, traps } from "./site/crawl-expected.ts";
import { type CrawlSite, startCrawlSite } from "./site/crawl-site.ts";

/** The price of a page. */
const PAGE = oneCredit / 1_000n;

/** Seconds; a crawl of the whole site takes some on an idle machine. */
const CRAWL_SECONDS_MAX = 120;

let site: CrawlSite;
let rig: Rig;
beforeAll(async () => {
  site = await startCrawlSite();
  rig = await startRig({
    config: {
      web: {
        allow_private_hosts: [new URL(site.url).host, new URL(site.partner.url).host, "127.0.0.1:*"],
        crawl: { pages_per_second: 0, connections_per_host: 16, per_user: 3 },
      },
    },
  });
});
afterAll(async () => {
  await rig.stop();
  await site.stop();
});

const clientOf = ({ token }: Caller): Firecrawl => new Firecrawl({ apiUrl: rig.gateway.url, apiKey: token });

/** The page's own name, at whatever address it was read. */
function idOf({ metadata = {} }: Document): string {
  const { "page-id": id, url } = metadata as Record<string, unknown>;
  if (typeof id === "string") return id;
  if (typeof url !== "string") throw new Error("a page has no address");
  return new URL(url).pathname;
}

const isInTrap = (id: string): boolean => traps.some((trap) => trap.test(id));

const pathOf = (url: string): string => new URL(url).pathname;

/** A request of the gateway, as JSON. */
async function ask(
  caller: Caller,
  path: string,
  method = "GET",
): Promise<{ status: number; body: CrawlJob & Record<string, unknown> }> {
  const headers = { authorization: `Bearer ${caller.token}` };
  const answer = await fetch(path.startsWith("http") ? path : `${rig.gateway.url}${path}`, { method, headers });
  return { status: answer.status, body: (await answer.json()) as CrawlJob & Record<string, unknown> };
}

async function start(caller: Caller, body: object, path = "/v2/crawl"): Promise<string> {
  const answer = await post(rig, path, caller.token, body);
  const created = (await answer.json()) as { success: boolean; id: string; url: string };
  expect([answer.status, created.success, created.url]).toEqual([200, true, `${rig.gateway.url}${path}/${created.id}`]);
  return created.id;
}

describe("a crawl of the whole site", () => {
  let caller: Caller;
  let job: CrawlJob;
  beforeAll(async () => {
    caller = await rig.caller();
    job = await clientOf(caller).crawl(site.url, {
      limit: 2_000,
      // On a loaded machine a page takes seconds; those that never answer take all of it.
      scrapeOptions: { timeout: 10_000, maxAge: 0 },
      pollInterval: 1,
      timeout: CRAWL_SECONDS_MAX,
    });
  }, CRAWL_SECONDS_MAX * 1_000);

  test("finds the pages of the written list, each once, and little of the traps", () => {
    const found = job.data.map(idOf);
    expect(job.status).toBe("completed");
    const outside = found.filter((id) => !isInTrap(id));
    expect(outside.toSorted()).toEqual([...everything, ...missing].toSorted());
    expect(found.filter(isInTrap).length).toBeLessThan(200);
    expect(job.completed).toBe(found.length);
  });

  test("costs its pages, and nothing else", async () => {
    expect(BigInt(job.completed) * PAGE).toBe(await caller.closed());
    expect(Math.round((job.creditsUsed ?? 0) * 1_000)).toBe(job.completed);
    const { body } = await ask(caller, `/v1/generations?parent_id=${job.id}&limit=100`);
    expect(body.data).toHaveLength(100);
    await expectCleanAudit(rig.gateway);
  });

  test("names what it left out", async () => {
    const { errors, robotsBlocked } = await clientOf(caller).getCrawlErrors(job.id);
    const failed = errors.map(({ url }) => pathOf(url));
    for (const path of failing) if (path !== "/files/picture.png") expect(failed).toContain(path);
    const codes = errors.map(({ code }) => code);
    for (const code of ["CALENDAR", "SESSION_IDS", "REPEATING_PATH", "DUPLICATE_CONTENT", "REDIRECTED_AWAY"]) {
      expect(codes).toContain(code);
    }
    expect(robotsBlocked.map(pathOf).toSorted()).toEqual([...forbiddenByRobots].toSorted());
    expect(site.requests.map(({ path }) => path)).not.toContain("/private/1");
  });

  test("is paged by next, on the gateway's own address", async () => {
    const seen: string[] = [];
    let next: string | null = `/v2/crawl/${job.id}?limit=200`;
    while (next !== null) {
      const { body } = await ask(caller, next);
      seen.push(...body.data.map(idOf));
      next = body.next ?? null;
      if (next !== null) expect(next).toStartWith(`${rig.gateway.url}/v2/crawl/${job.id}?skip=`);
    }
    expect(seen.toSorted()).toEqual(job.data.map(idOf).toSorted());
  });

  test("is unknown to everybody else, and as a batch", async () => {
    const other = await rig.caller();
    for (const [path, method] of [
      [`/v2/crawl/${job.id}`, "GET"],
      [`/v2/crawl/${job.id}/errors`, "GET"],
      [`/v2/crawl/${job.id}`, "DELETE"],
    ] as const) {
      expect((await ask(other, path, method)).status).toBe(404);
    }
    for (const id of [job.id.replace(/^./, "f"), "x"]) {
      expect((await ask(caller, `/v2/crawl/${id}`)).status).toBe(404);
    }
    expect((await ask(caller, `/v2/batch/scrape/${job.id}`)).status).toBe(404);
  });

  test("stays as it was when it is cancelled after its end", async () => {
    expect((await ask(caller, `/v2/crawl/${job.id}`, "DELETE")).body).toMatchObject({ status: "completed" });
  });
});

test("include, limit and depth bound a crawl", async () => {
  const caller = await rig.caller();
  const options = { scrapeOptions: { timeout: 10_000 }, pollInterval: 1, timeout: CRAWL_SECONDS_MAX };
  const docs = await clientOf(caller).crawl(site.url, { ...options, includePaths: ["^/docs/"], limit: 500 });
  expect(docs.data.map(idOf).toSorted()).toEqual([...docsOnly].toSorted());
  const few = await clientOf(caller).crawl(site.url, { ...options, limit: 3, sitemap: "skip" });
  expect([few.status, few.completed, few.data.length]).toEqual(["completed", 3, 3]);
  const one = await clientOf(caller).crawl(site.url, { ...options, maxDiscoveryDepth: 0, sitemap: "skip" });
  expect(one.data.map(idOf)).toEqual(["/"]);
});

test("a start that redirects to another site is crawled there", async () => {
  const caller = await rig.caller();
  const job = await clientOf(caller).crawl(`${site.url}/moved/partner`, {
    crawlEntireDomain: true,
    pollInterval: 1,
    timeout: CRAWL_SECONDS_MAX,
  });
  const partners = [1, 2, 3, 4, 5].map((number) => `${site.partner.url}/partner-${number}`);
  const found = job.data.map(({ metadata }) => String(metadata?.["url"]));
  expect(found.filter((url) => url.startsWith(site.partner.url)).toSorted()).toEqual(partners);
  // Pages of the first site may have been read from its sitemap before the redirect was known.
  expect(found.length).toBeLessThan(everything.length / 2);
  expect(site.partner.visits("/sitemap.xml")).not.toEqual([]);
  expect(site.partner.visits("/robots.txt")).not.toEqual([]);
});

test("a crawl can be cancelled, and ends at once", async () => {
  const caller = await rig.caller();
  const id = await start(caller, { url: `${site.url}/docs/`, delay: 1, crawlEntireDomain: true });
  await until("a page is there", async () => (await ask(caller, `/v2/crawl/${id}`)).body.completed > 0, 20_000);
  const options = { delay: 1, crawlEntireDomain: true, sitemap: "include", limit: 10_000, scrapeOptions: {} };
  expect((await ask(caller, "/v2/crawl/active")).body).toMatchObject({
    success: true,
    crawls: [{ id, url: `${site.url}/docs/`, status: "scraping", options }],
  });
  expect((await ask(caller, `/v2/crawl/${id}`, "DELETE")).body).toMatchObject({ status: "cancelled" });
  const { body } = await ask(caller, `/v2/crawl/${id}`);
  expect(body.status).toBe("cancelled");
  expect((await ask(caller, "/v2/crawl/active")).body).toMatchObject({ crawls: [] });
  expect((await ask(caller, "/v2/crawl/ongoing")).body).toMatchObject({ success: true, crawls: [] });
  expect(await caller.closed()).toBe(BigInt((await ask(caller, `/v2/crawl/${id}`)).body.completed) * PAGE);
});

test("ends when its token is revoked, and says so", async () => {
  const caller = await rig.caller();
  const id = await start(caller, { url: `${site.url}/docs/`, delay: 0.2, crawlEntireDomain: true });
  await until("a page is there", async () => (await ask(caller, `/v2/crawl/${id}`)).body.completed > 0, 20_000);
  await rig.gateway.cli("token", "revoke", caller.token.slice("tg_".length).split("_")[0] ?? "");
  const other = { ...caller, token: await rig.gateway.token({ user: caller.user }) };
  await until("it has ended", async () => (await ask(other, `/v2/crawl/${id}`)).body.status !== "scraping", 20_000);
  expect((await ask(other, `/v2/crawl/${id}`)).body).toMatchObject({
    status: "failed",
    error: "The token has been revoked.",
  });
  const { errors } = await clientOf(other).getCrawlErrors(id);
  expect(errors.map(({ code }) => code)).toContain("TOKEN_REVOKED");
});

test("ends cleanly when the credits do, and says so", async () => {
  const token = await rig.gateway.token({ user: "poor", credits: (PAGE * 15n) / 2n });
  const caller = { ...(await rig.caller()), token };
  const id = await start(caller, { url: `${site.url}/docs/`, limit: 50 });
  await until("it has ended", async () => (await ask(caller, `/v2/crawl/${id}`)).body.status !== "scraping", 60_000);
  const { body } = await ask(caller, `/v2/crawl/${id}`);
  expect(body).toMatchObject({ status: "failed", completed: 7, creditsUsed: 0.007 });
  expect(String(body["error"])).toContain("Not enough credits");
  expect(body.data).toHaveLength(7);
  const { errors } = await clientOf(caller).getCrawlErrors(id);
  expect(errors.map(({ code }) => code)).toContain("INSUFFICIENT_CREDITS");
  await expectCleanAudit(rig.gateway);
});

test("a batch scrapes its addresses, and names those that are none", async () => {
  const caller = await rig.caller();
  const urls = [`${site.url}/docs/`, `${site.url}/private/1`, `${site.url}/errors/404`];
  const id = await start(
    caller,
    { urls: [...urls, "ftp://example.org/", urls[0]], formats: ["html"] },
    "/v2/batch/scrape",
  );
  await until(
    "it has ended",
    async () => (await ask(caller, `/v2/batch/scrape/${id}`)).body.status === "completed",
    60_000,
  );
  const job = await clientOf(caller).getBatchScrapeStatus(id);
  expect(job.data.map(idOf).toSorted()).toEqual(["/docs/", "/errors/404", "/private/1"]);
  expect(job.data.every(({ html, markdown }) => html !== undefined && markdown === undefined)).toBe(true);
  const errors = await clientOf(caller).getBatchScrapeErrors(id);
  expect(errors).toMatchObject({ errors: [], robotsBlocked: [] });
  expect(await caller.closed()).toBe(3n * PAGE);
});

test("a batch gets further addresses while it runs and after its end, each once, from its own token alone", async () => {
  const caller = await rig.caller();
  const client = clientOf(caller);
  const { id } = await client.startBatchScrape([`${site.url}/docs/`], { options: { formats: ["html"] } });
  const isComplete = async (completed: number): Promise<boolean> => {
    const { status, data } = await client.getBatchScrapeStatus(id);
    return status === "completed" && data.length === completed;
  };
  const appended = await client.startBatchScrape([`${site.url}/private/1`, `${site.url}/docs/`], { appendToId: id });
  expect(appended.id).toBe(id);
  await until("both are read", () => isComplete(2), 60_000);
  const body = { urls: [`${site.url}/errors/404`, "nothing:"], appendToId: id, formats: ["html"] };
  const again = await Promise.all([1, 2, 3].map(() => post(rig, "/v2/batch/scrape", caller.token, body)));
  const answers = (await Promise.all(again.map((each) => each.json()))) as object[];
  for (const answer of answers) expect(answer).toMatchObject({ success: true, id, invalidURLs: ["nothing:"] });
  await until("it is read", () => isComplete(3), 60_000);
  const { data } = await client.getBatchScrapeStatus(id);
  expect(data.every(({ html, markdown }) => html !== undefined && markdown === undefined)).toBe(true);

  const codeOf = async (changes: object, token = caller.token): Promise<unknown[]> => {
    const answer = await post(rig, "/v2/batch/scrape", token, { ...body, ...changes });
    return [answer.status, ((await answer.json()) as { code: string }).code];
  };
  for (const changes of [{ formats: ["markdown"] }, { maxConcurrency: 1 }, { webhook: "https://example.com/" }])
    expect(await codeOf(changes)).toEqual([422, "BAD_REQUEST"]);
  const other = await rig.gateway.token({ user: caller.user });
  expect(await codeOf({}, other)).toEqual([422, "BAD_REQUEST"]);
  expect(await codeOf({}, (await rig.caller()).token)).toEqual([404, "crawl_not_found"]);
  const crawl = await start(caller, { url: `${site.url}/docs/`, limit: 1 });
  expect(await codeOf({ appendToId: crawl })).toEqual([404, "crawl_not_found"]);
  await ask(caller, `/v2/crawl/${crawl}`, "DELETE");
  await until("the crawl has ended", async () => (await ask(caller, `/v2/crawl/${crawl}`)).body.status !== "scraping");
  const spent = await caller.closed();
  expect(spent === 3n * PAGE || spent === 4n * PAGE).toBe(true);
});

test("a batch reads each address as it was named, whatever other spellings there are", async () => {
  const caller = await rig.caller();
  const urls = ["/docs/", "/docs/?sid=1", "/docs/?sid=2", "/docs/?b=1&a=2", "/docs/?a=2&b=1"].map(
    (path) => site.url + path,
  );
  const job = await clientOf(caller).batchScrape(urls, { pollInterval: 1, timeout: CRAWL_SECONDS_MAX });
  expect(job.data.map(({ metadata }) => metadata?.sourceURL ?? "").toSorted()).toEqual(urls.toSorted());
});

test("the SDK's watcher gets each page and the end", async () => {
  const caller = await rig.caller();
  const client = clientOf(caller);
  const id = await start(caller, { url: `${site.url}/docs/`, limit: 12, sitemap: "skip" });
  const watcher = client.watcher(id, { kind: "crawl", pollInterval: 1, timeout: 60 });
  const pages: string[] = [];
  const { promise: done, resolve, reject } = Promise.withResolvers<string>();
  watcher.on("document", (document: Document) => pages.push(idOf(document)));
  watcher.on("done", (state: { status: string }) => resolve(state.status));
  watcher.on("error", (error: unknown) => reject(new Error(JSON.stringify(error))));
  await Promise.all([watcher.start(), done]);
  expect(await done).toBe("completed");
  expect(new Set(pages).size).toBe(12);
});

test("nobody else can watch a crawl, nor can it be watched as a batch", async () => {
  const [caller, other] = [await rig.caller(), await rig.caller()];
  const id = await start(caller, { url: `${site.url}/docs/`, limit: 2, sitemap: "skip" });
  /** The first message of a watcher, or `refused`. */
  const watch = (token: string, path: string): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = new WebSocket(`${rig.gateway.url.replace("http", "ws")}${path}/${id}`, [token]);
    socket.addEventListener("message", ({ data }) => {
      resolve((JSON.parse(String(data)) as { type: string }).type);
      socket.close();
    });
    socket.addEventListener("close", () => resolve("refused"));
    return promise;
  };
  expect(await watch(other.token, "/v2/crawl")).toBe("refused");
  expect(await watch("tg_unknown", "/v2/crawl")).toBe("refused");
  expect(await watch(caller.token, "/v2/batch/scrape")).toBe("refused");
  expect(await watch(caller.token, "/v2/crawl")).toBe("catchup");
});

test("a crawl's webhooks are Firecrawl's, signed, and in order, whatever a slow receiver refuses", async () => {
  const caller = await rig.caller();
  const secret = await webhookSecretOf(caller);
  const received: { body: Record<string, unknown>; isSigned: boolean; custom: string | null }[] = [];
  let open = 0;
  let mostAtOnce = 0;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.text();
      const expected = `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
      received.push({
        body: JSON.parse(text) as Record<string, unknown>,
        isSigned: request.headers.get("x-firecrawl-signature") === expected,
        custom: request.headers.get("x-custom"),
      });
      mostAtOnce = Math.max(mostAtOnce, (open += 1));
      await Bun.sleep(200);
      open -= 1;
      return received.length === 2 ? new Response("not now", { status: 500 }) : new Response("ok");
    },
  });
  try {
    const webhook = {
      url: `http://127.0.0.1:${receiver.port}/`,
      headers: { "x-custom": "yes" },
      metadata: { job: "7" },
    };
    const id = await start(caller, { url: `${site.url}/docs/`, limit: 3, sitemap: "skip", webhook });
    await until("all have arrived", () => received.some(({ body }) => body["type"] === "crawl.completed"), 60_000);
    for (const { body, isSigned, custom } of received) {
      expect({ isSigned, custom, id: body["id"], success: body["success"] }).toEqual({
        isSigned: true,
        custom: "yes",
        id,
        success: true,
      });
      expect(body["metadata"]).toEqual({ job: "7" });
    }
    const { body: job } = await ask(caller, `/v2/crawl/${id}`);
    const [first = "", ...others] = job.data.map(idOf);
    // The first page was refused once: its second attempt holds up the end only.
    const names = received.map(({ body }) => {
      const [page] = body["data"] as Document[];
      return page === undefined ? body["type"] : idOf(page);
    });
    expect(names).toEqual(["crawl.started", first, ...others, first, "crawl.completed"]);
    expect(mostAtOnce).toBe(1);
    const pages = received
      .filter(({ body }) => body["type"] === "crawl.page")
      .map(({ body }) => body["data"] as Document[]);
    expect(pages.every(([page]) => page?.markdown?.includes("Page /docs/"))).toBe(true);
  } finally {
    await receiver.stop(true);
  }
}, 90_000);

/** The caller makes it, and their webhooks work at once. */
async function webhookSecretOf({ token }: Caller): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${rig.gateway.url}/v1/webhooks/secret`, { method: "POST", headers });
  return ((await answer.json()) as { secret: string }).secret;
}

describe("refuses", () => {
  test.each<[string, object, string]>([
    ["no address", { url: "ftp://example.org/" }, "url"],
    ["a pattern that is none", { url: "https://example.org/", includePaths: ["("] }, "includePaths.0"],
    ["an unknown member", { url: "https://example.org/", pages: 3 }, "pages"],
    [
      "an unknown option of the scrape",
      { url: "https://example.org/", scrapeOptions: { formats: ["branding"] } },
      "scrapeOptions",
    ],
    ["to ignore robots.txt", { url: "https://example.org/", ignoreRobotsTxt: true }, "ignoreRobotsTxt"],
    ["a webhook on a private network", { url: "https://example.org/", webhook: "http://10.0.0.1/" }, "webhook"],
  ])("%s", async (_, body, param) => {
    const caller = await rig.caller();
    const answer = await post(rig, "/v2/crawl", caller.token, body);
    const refusal = (await answer.json()) as { success: boolean; error: string };
    expect([answer.status, refusal.success]).toEqual([422, false]);
    expect(refusal.error).toContain(param);
  });

  test("more crawls at a time than a user may have", async () => {
    const caller = await rig.caller();
    const body = { url: `${site.url}/docs/`, delay: 60 };
    const ids = [await start(caller, body), await start(caller, body), await start(caller, body)];
    const answer = await post(rig, "/v2/crawl", caller.token, body);
    expect(answer.status).toBe(429);
    for (const id of ids) await ask(caller, `/v2/crawl/${id}`, "DELETE");
    await caller.closed();
  });
});

test("the SDK's calls about the account are answered", async () => {
  const caller = await rig.caller();
  const { remainingCredits } = await clientOf(caller).getCreditUsage();
  const { remainingTokens } = await clientOf(caller).getTokenUsage();
  expect(remainingTokens).toBe(Math.floor(remainingCredits * 15_000));
  expect(remainingCredits).toBeGreaterThan(0);
  expect(await clientOf(caller).getConcurrency()).toMatchObject({ concurrency: 0 });
  await clientOf(caller).scrape(`${site.url}/docs/`);
  const [month, ...others] = (await clientOf(caller).getCreditUsageHistorical()).periods;
  expect(others).toEqual([]);
  expect(month).toMatchObject({ apiKey: null, creditsUsed: 0.001 });
  const { startDate = null, endDate = null } = month ?? {};
  expect(startDate).toMatch(/-01T00:00:00.000Z$/);
  expect(new Date(Date.parse(endDate ?? "") + 1_000).getUTCDate()).toBe(1);
  const byToken = await clientOf(caller).getTokenUsageHistorical(true);
  expect(byToken.periods).toMatchObject([{ startDate, endDate, apiKey: expect.any(String) as string, tokensUsed: 15 }]);
  const python = await fetch(`${rig.gateway.url}/v2/team/credit-usage/historical`, {
    headers: { authorization: `Bearer ${caller.token}`, "user-agent": "python-requests/2.32" },
  });
  expect(((await python.json()) as { periods: object[] }).periods).toMatchObject([{ creditsUsed: 1 }]);
});

test("the history of spending is of a query that is known", async () => {
  const caller = await rig.caller();
  const answer = await ask(caller, "/v2/team/credit-usage/historical?byApiKey=maybe");
  expect(answer.status).toBe(422);
});
