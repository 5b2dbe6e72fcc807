/** Searches with Firecrawl's SDK on every back end. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Firecrawl } from "@mendable/firecrawl-js";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { type Caller, expectCleanAudit, oneCredit, post, type Rig, startRig } from "../kit/index.ts";
import { startTarget, type Target } from "./target.ts";

/** The prices of a page and of ten results. */
const PAGE = oneCredit / 1_000n;
const SEARCH = 2n * PAGE;

interface Found {
  success: boolean;
  data: {
    web: { url: string; title: string; description: string; markdown?: string; metadata?: { error?: string } }[];
    news?: object[];
    images?: object[];
  };
  warning: string | null;
  creditsUsed: number;
}

const search = async (rig: Rig, { token }: Caller, body: object): Promise<Found> => {
  const answer = await post(rig, "/v2/search", token, body);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Found;
};

describe("on the local index", () => {
  let target: Target;
  let rig: Rig;
  let caller: Caller;
  const clientOf = ({ token }: Caller): Firecrawl => new Firecrawl({ apiUrl: rig.gateway.url, apiKey: token });
  beforeAll(async () => {
    target = startTarget();
    rig = await startRig({ config: { web: { allow_private_hosts: [target.host, "127.0.0.1:*"] } } });
    caller = await rig.caller();
    for (const path of ["/harbour", "/beach", "/report.pdf"]) {
      await post(rig, "/v2/scrape", caller.token, { url: target.url(path) });
    }
    await post(rig, "/v2/scrape", caller.token, { url: target.url("/secret"), storeInCache: false });
  });
  afterAll(async () => {
    await rig.stop();
    await target.stop();
  });

  test("finds what its user has read, and nobody else", async () => {
    const { web = [] } = await clientOf(caller).search("tide gulls", { limit: 5 });
    const urls = web.map((each) => ("url" in each ? each.url : ""));
    expect(urls.toSorted()).toEqual([target.url("/beach"), target.url("/harbour"), target.url("/report.pdf")]);
    expect(Object.keys(web[0] ?? {}).toSorted()).toEqual(["description", "title", "url"]);
    const other = await search(rig, await rig.caller(), { query: "tide" });
    expect(other).toMatchObject({ success: true, data: { web: [] }, creditsUsed: 0 });
    expect(other.warning).toBe(
      "Nothing was found. Try fewer words or filters. Only pages that you have scraped or crawled in the last 30 days are searched.",
    );
  });

  test.each<[string, string[]]>([
    ["intitle:harbour tide", ["/harbour"]],
    ["tide -beach -report", ["/harbour"]],
    ["filetype:pdf tide", ["/report.pdf"]],
    ['"comes in twice" intitle:beach', ["/beach"]],
    ["tide site:nowhere.org", []],
    ["secret", []],
  ])("%s", async (query, paths) => {
    const { data } = await search(rig, caller, { query });
    expect(data.web.map(({ url }) => new URL(url).pathname)).toEqual(paths);
  });

  test("reads the results if it is asked to, and costs them", async () => {
    const payer = await rig.caller();
    for (const path of ["/harbour", "/beach"]) await post(rig, "/v2/scrape", payer.token, { url: target.url(path) });
    const before = await payer.closed();
    const found = await search(rig, payer, {
      query: "tide",
      scrapeOptions: { formats: [{ type: "markdown" }], onlyMainContent: true },
    });
    expect(found.data.web.map(({ markdown }) => markdown?.includes("The tide comes in"))).toEqual([true, true]);
    expect((await payer.closed()) - before).toBe(SEARCH + 2n * PAGE);
    expect(found.creditsUsed).toBe(0.004);
    await expectCleanAudit(rig.gateway);
  });

  test("reads no more than fits into an answer, and the rest is free", async () => {
    const payer = await rig.caller();
    const filler = `<!-- ${"a".repeat(12_000_000)} -->`;
    let isLarge = false;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) =>
        new Response(`<title>${url}</title><p>Large tides.</p>${isLarge ? filler : ""}`, {
          headers: { "content-type": "text/html" },
        }),
    });
    try {
      for (const path of [1, 2, 3, 4, 5]) {
        const read = await post(rig, "/v2/scrape", payer.token, { url: `http://127.0.0.1:${server.port}/${path}` });
        expect(read.status).toBe(200);
      }
      isLarge = true;
      const before = await payer.closed();
      const scrapeOptions = { formats: [{ type: "rawHtml" }], maxAge: 0, storeInCache: false };
      const { data } = await search(rig, payer, { query: "tides", scrapeOptions });
      const left = data.web.filter(({ metadata }) => metadata?.error?.includes("too large together") === true);
      expect([data.web.length, left.length]).toEqual([5, 3]);
      expect((await payer.closed()) - before).toBe(SEARCH + 2n * PAGE);
    } finally {
      await server.stop(true);
    }
  });

  test("holds its worst case, and refuses what the balance does not pay", async () => {
    const token = await rig.gateway.token({ user: "poor", credits: SEARCH });
    const refused = await post(rig, "/v2/search", token, { query: "tide", scrapeOptions: {}, limit: 1 });
    expect(refused.status).toBe(402);
    expect((await post(rig, "/v2/search", token, { query: "tide", limit: 10 })).status).toBe(200);
    expect((await post(rig, "/v2/search", token, { query: "tide", limit: 11 })).status).toBe(402);
  });

  test("names what the local index has not got, and gives the rest", async () => {
    const sources = ["web", "news", { type: "images" }];
    const wishes = { location: "Berlin", country: "DE", lang: "de", tbs: "qdr:d,lr:x" };
    const { data, warning } = await search(rig, caller, { query: "tide related:a.org", sources, ...wishes });
    expect(data).toMatchObject({ news: [], images: [] });
    expect(data.web).toHaveLength(3);
    expect(warning).toBe(
      "The search engine of this gateway has no news and no images. It does not know location, country, lang, which changed nothing. Not supported, and ignored: related:a.org, tbs: lr:x.",
    );
    const newsOnly = await search(rig, caller, { query: "tide", sources: ["news"] });
    expect(newsOnly).toMatchObject({ data: { news: [] }, creditsUsed: 0 });
    expect(newsOnly.data.web).toBeUndefined();
  });

  test("finds the pages of a category, and of a time", async () => {
    const found = await search(rig, caller, { query: "tide", categories: ["github", { type: "pdf" }] });
    expect(found.data.web).toMatchObject([{ url: target.url("/report.pdf"), category: "pdf" }]);
    const old = await search(rig, caller, { query: "tide", tbs: "cdr:1,cd_max:1/31/2001" });
    expect(old.data.web).toEqual([]);
  });

  test.each([
    ["query", { query: "" }],
    ["limit", { query: "x", limit: 101 }],
    ["sources", { query: "x", sources: ["videos"] }],
    ["categories", { query: "x", categories: ["developer"] }],
    ["scrapeOptions", { query: "x", scrapeOptions: { formats: ["branding"] } }],
    ["engine", { query: "x", engine: "y" }],
  ])("refuses %s", async (param, body) => {
    const answer = await post(rig, "/v2/search", caller.token, body);
    expect(answer.status).toBe(422);
    expect(((await answer.json()) as { error: string }).error).toContain(param);
  });
});

describe.each(["searxng", "brave", "firecrawl"] as const)("on %s", (backend) => {
  let simulators: Simulators;
  let rig: Rig;
  let caller: Caller;
  beforeAll(async () => {
    simulators = await startSimulators();
    const baseUrl = simulators.web[backend];
    rig = await startRig({ config: { web: { search: { backend, base_url: baseUrl, api_key: "fc-simulated" } } } });
    caller = await rig.caller();
  });
  afterAll(async () => {
    await rig.stop();
    await simulators.stop();
  });

  test("finds pages, each with title, address and description", async () => {
    const before = await caller.closed();
    const { data, creditsUsed } = await search(rig, caller, { query: "train", limit: 3 });
    expect(data.web.length).toBeGreaterThan(0);
    expect(data.web.length).toBeLessThanOrEqual(3);
    for (const each of data.web) expect(Object.keys(each).toSorted()).toEqual(["description", "title", "url"]);
    expect(creditsUsed).toBe(0.002);
    expect((await caller.closed()) - before).toBe(SEARCH);
  });

  test("zero results are a success, and free", async () => {
    const found = await search(rig, caller, { query: "site:nowhere.invalid zzzz" });
    expect(found).toMatchObject({ success: true, data: { web: [] }, creditsUsed: 0 });
  });

  test("no word of a query is a command", async () => {
    const plain = await search(rig, caller, { query: "train", limit: 5 });
    const commands = await search(rig, caller, { query: "!!train", limit: 5 });
    expect(commands.data).toEqual(plain.data);
  });

  test("finds news and images, each with what it has", async () => {
    const { data, creditsUsed } = await search(rig, caller, { query: "frost", sources: ["news", "images"], limit: 10 });
    const { web, news = [], images = [] } = data;
    expect(web).toBeUndefined();
    expect(news.length).toBeGreaterThan(0);
    for (const each of news) expect(Object.keys(each)).toContain("snippet");
    expect(JSON.stringify(news)).not.toContain("<strong>");
    for (const each of images) expect(Object.keys(each)).toContain("imageUrl");
    expect(creditsUsed).toBe(0.002 * Math.ceil((news.length + images.length) / 10));
  });

  test("results are of the days that are asked for", async () => {
    const all = await search(rig, caller, { query: "frost", limit: 20 });
    for (const body of [
      { query: "frost after:2026-04-01 before:2026-05-01" },
      { query: "frost", tbs: "cdr:1,cd_min:4/1/2026,cd_max:4/30/2026" },
    ]) {
      const { data, warning } = await search(rig, caller, { limit: 20, ...body });
      expect(data.web.length).toBeLessThanOrEqual(all.data.web.length);
      if (data.web.length === 0) expect(warning).toContain("Try fewer words or filters");
    }
    const { warning } = await search(rig, caller, { query: "frost", location: "Berlin", lang: "de" });
    expect(warning).toContain(backend === "firecrawl" ? "know lang," : "know location,");
  });

  test("filters hold whatever the engine does", async () => {
    const { data } = await search(rig, caller, { query: "train", limit: 10 });
    const [first] = data.web;
    if (first === undefined) throw new Error("no result");
    const { hostname } = new URL(first.url);
    const on = await search(rig, caller, { query: `train site:${hostname}` });
    expect(on.data.web.every(({ url }) => new URL(url).hostname.endsWith(hostname.replace(/^www\./, "")))).toBe(true);
    const off = await search(rig, caller, { query: `train -site:${hostname}` });
    expect(off.data.web.filter(({ url }) => new URL(url).hostname === hostname)).toEqual([]);
  });
});
