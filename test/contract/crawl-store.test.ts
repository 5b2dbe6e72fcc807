/** The contract of every `CrawlStore`, on either engine: the frontier, its leases and its politeness. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type CrawlStore, type LeasedPage, type NewCrawl, type NewPage, openWebStores } from "../../src/web/index.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";

let postgres: PostgresServer;
let folder: string;
let files = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  folder = mkdtempSync(join(tmpdir(), "tollgate-crawls-"));
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

const T0 = 2 ** 42;
const LEASE_MS = 1_000;
const MANY = 1_000_000;
/** No pace, so that only the test's own bounds count. */
const free = { connectionsMax: MANY, intervalMs: 0 };

const crawl = (id: string, rest: Partial<NewCrawl> = {}): NewCrawl => ({
  id,
  kind: "crawl",
  owner: "alice",
  caller: { user: "alice", odd: "Ω \u{1f642} ' \\ \0" },
  request: { url: "http://a.test/" },
  pagesMax: MANY,
  concurrencyMax: MANY,
  delayMs: 0,
  createdAt: T0,
  expiresAt: T0 + MANY,
  ...rest,
});

const page = (path: string, rest: Partial<NewPage> = {}): NewPage => {
  const host = rest.host ?? "a.test";
  return { kind: "page", key: `${host}${path}`, url: `http://${host}${path}`, host, depth: 1, ...rest };
};

const pages = (count: number, host = "a.test") =>
  Array.from({ length: count }, (_, index) => page(`/${index}`, { host }));

describe.each([
  ["SQLite", async () => `sqlite:${join(folder, `${(files += 1)}.db`)}`],
  ["Postgres", async () => postgres.createDatabase()],
] as const)("crawls on %s", (_engine, newUrl) => {
  let url: string;
  let storages: Storage[];
  let store: CrawlStore;

  /** A store on a connection of its own, as in another process. */
  async function connect(): Promise<CrawlStore> {
    const storage = await openStorage(url);
    storages.push(storage);
    return openWebStores(storage).crawls;
  }

  beforeEach(async () => {
    storages = [];
    url = await newUrl();
    store = await connect();
  });
  afterEach(async () => {
    for (const storage of storages) await storage.close();
  });

  const take = (
    at: number,
    { token = "t1", ...rest }: Partial<Parameters<CrawlStore["take"]>[0]> & { token?: string } = {},
    from = store,
  ) => from.take({ lease: { token, until: at + LEASE_MS }, at, pagesMax: 100, politeness: free, ...rest });

  const pathsOf = (taken: readonly LeasedPage[]): string[] => taken.map(({ url: each }) => new URL(each).pathname);

  async function startCrawl(id: string, list: readonly NewPage[], rest: Partial<NewCrawl> = {}): Promise<void> {
    expect(await store.insert(crawl(id, rest), 100)).toBe(true);
    await store.add(id, list, T0, MANY);
  }

  const content = (text: string) => new Uint8Array(Buffer.from(text));

  async function complete(each: LeasedPage, text: string, at = T0): Promise<void> {
    expect(await store.fetched(each, { content: content(text), work: { id: text }, digest: undefined })).toBe("stored");
    expect(await store.end(each, { state: "done", credits: 5n }, at)).toBe(true);
  }

  test("store every field, and are their owner's", async () => {
    await startCrawl("c1", []);
    await store.insert(crawl("c2", { owner: "bob", kind: "batch", delayMs: 7, concurrencyMax: 2, pagesMax: 3 }), 1);
    const counts = { discovered: 0, completed: 0, failed: 0, skipped: 0, credits: 0n, bytes: 0 };
    const running = { state: "scraping", failure: undefined, endedAt: undefined, ...counts };
    expect(await store.find("c1")).toEqual({ ...crawl("c1"), ...running } as never);
    expect(await store.find("c2")).toMatchObject({ kind: "batch", delayMs: 7, concurrencyMax: 2, pagesMax: 3 });
    expect(await store.find("c3")).toBeUndefined();
    expect((await store.active("alice")).map(({ id }) => id)).toEqual(["c1"]);
    expect(await store.insert(crawl("c4", { owner: "bob" }), 1)).toBe(false);
    expect(await store.find("c4")).toBeUndefined();
  });

  test("know each page once, and take no more than they may discover", async () => {
    await startCrawl("c1", [page("/a"), page("/b"), page("/a")]);
    expect(await store.add("c1", [page("/b"), page("/c")], T0, MANY)).toEqual({ added: 1, isFull: false });
    expect(await store.add("c1", [page("/c"), page("/d"), page("/e")], T0, 4)).toEqual({ added: 1, isFull: true });
    expect(await store.add("c1", [page("/a")], T0, 4)).toEqual({ added: 0, isFull: false });
    expect(await store.add("none", [page("/a")], T0, 4)).toEqual({ added: 0, isFull: false });
    expect(await store.find("c1")).toMatchObject({ discovered: 4 });
    expect(pathsOf(await take(T0)).toSorted()).toEqual(["/a", "/b", "/c", "/d"]);
    expect(await take(T0)).toEqual([]);
  });

  test("lend each page to one process, in the order of discovery", async () => {
    await startCrawl("c1", pages(40));
    const other = await connect();
    const seen: string[] = [];
    for (let round = 0; seen.length < 40 && round < 200; round += 1) {
      const taken = await Promise.all([
        take(T0 + round, { pagesMax: 3, token: "t1" }),
        take(T0 + round, { pagesMax: 3, token: "t2" }, other),
      ]);
      for (const each of taken) {
        const numbers = each.map(({ number }) => number);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        seen.push(...pathsOf(each));
      }
    }
    expect(seen).toHaveLength(40);
    expect(new Set(seen).size).toBe(40);
  });

  test("a page is charged once, and its result visible then", async () => {
    await startCrawl("c1", [page("/a"), page("/b")]);
    const [a, b] = await take(T0);
    if (a === undefined || b === undefined) throw new Error("not two pages");
    expect(a).toMatchObject({ crawlId: "c1", kind: "page", host: "a.test", depth: 1, attempts: 1, work: undefined });
    expect(await store.fetched(a, { content: content("A"), work: { id: "w" }, digest: undefined })).toBe("stored");
    expect(await store.fetched(a, { content: content("again"), work: { id: "w2" }, digest: undefined })).toBe("lost");
    expect(await store.results("c1", { from: 0, countMax: 10, bytesMax: 100 })).toEqual([]);
    expect(await store.end(a, { state: "done", credits: 7n }, T0)).toBe(true);
    expect(await store.end(a, { state: "done", credits: 7n }, T0)).toBe(false);
    await complete(b, "BB");
    const results = await store.results("c1", { from: 0, countMax: 10, bytesMax: 100 });
    expect(results.map(({ position, content: bytes }) => [position, Buffer.from(bytes).toString()])).toEqual([
      [0, "A"],
      [1, "BB"],
    ]);
    expect(await store.find("c1")).toMatchObject({ completed: 2, credits: 12n, bytes: 3 });
  });

  test("pages that failed are found in the order in which they did", async () => {
    await startCrawl("c1", [page("/a"), page("/b"), page("/c")]);
    const failure = { code: "X", message: "gone" };
    const states = ["failed", "blocked", "failed"] as const;
    for (const [at, each] of (await take(T0)).toReversed().entries()) {
      await store.end(each, { state: states[at] ?? "failed", failure }, T0);
    }
    expect(await store.failedPage("c1", 0)).toMatchObject({ ...failure, number: 2, url: "http://a.test/c", at: T0 });
    expect(await store.failedPage("c1", 1)).toMatchObject({ number: 0, isBlocked: false });
    expect(await store.failedPage("c1", 2)).toBeUndefined();
  });

  test("a lease that ran out is another process's, and a fetched page goes on where it was", async () => {
    await startCrawl("c1", [page("/a"), page("/b")]);
    const [a, b] = await take(T0);
    if (a === undefined || b === undefined) throw new Error("not two pages");
    await store.fetched(b, { content: content("B"), work: { id: "w" }, digest: undefined });
    expect(await take(T0 + LEASE_MS, { token: "t2" })).toEqual([]);
    const again = await take(T0 + LEASE_MS + 1, { token: "t2" });
    expect(again.toSorted((x, y) => x.number - y.number)).toEqual([
      { ...a, token: "t2", attempts: 2 },
      { ...b, token: "t2", attempts: 2, work: { id: "w" } },
    ]);
    expect(await store.fetched(a, { content: content("late"), work: {}, digest: undefined })).toBe("lost");
    expect(await store.end(a, { state: "skipped" }, T0)).toBe(false);
    expect(await store.end(b, { state: "done", credits: 1n }, T0)).toBe(false);
    for (const each of again)
      if (each.work !== undefined) expect(await store.end(each, { state: "done", credits: 1n }, T0)).toBe(true);
    expect(await store.find("c1")).toMatchObject({ completed: 1, credits: 1n });
  });

  test("a page that repeats another one's text is not stored", async () => {
    await startCrawl("c1", pages(3));
    await startCrawl("c2", pages(1));
    const [a, b, c] = (await take(T0)).filter(({ crawlId }) => crawlId === "c1");
    if (a === undefined || b === undefined || c === undefined) throw new Error("not three pages");
    const same = { content: content("A"), work: {}, digest: "same" };
    expect(await store.repeats(a, "same")).toBe(false);
    expect(await store.fetched(a, same)).toBe("stored");
    expect(await store.repeats(a, "same")).toBe(false);
    expect(await store.repeats(b, "same")).toBe(true);
    expect(await store.fetched(b, same)).toBe("duplicate");
    expect(await store.fetched(c, { ...same, digest: "other" })).toBe("stored");
    expect(await store.leased("c1")).toBe(3);
    expect(await store.end(b, { state: "skipped" }, T0)).toBe(true);
    expect(await store.leased("c1")).toBe(2);
    expect(await store.leased("c2")).toBe(1);
  });

  test("leases are renewed together; those of ended crawls are told", async () => {
    await startCrawl("c1", [page("/a")]);
    await startCrawl("c2", [page("/a")]);
    expect(await take(T0)).toHaveLength(2);
    expect((await store.renew("t1", T0 + 5 * LEASE_MS)).toSorted()).toEqual(["c1", "c2"]);
    expect(await take(T0 + 2 * LEASE_MS, { token: "t2" })).toEqual([]);
    await store.finish("c1", { state: "cancelled", at: T0, expiresAt: T0 + 9 });
    expect(await store.renew("t1", T0 + 5 * LEASE_MS)).toEqual(["c2"]);
    expect(await store.renew("t9", T0)).toEqual([]);
  });

  test("a page whose processes keep dying fails", async () => {
    await startCrawl("c1", [page("/a")]);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(await take(T0 + attempt * 2 * LEASE_MS)).toMatchObject([{ attempts: attempt }]);
    }
    expect(await take(T0 + 10 * LEASE_MS)).toEqual([]);
    expect(await store.failures("c1", 10)).toMatchObject([
      { code: "CRASHED", isBlocked: false, url: "http://a.test/a" },
    ]);
    expect(await store.find("c1")).toMatchObject({ failed: 1 });
  });

  test("a page that is given back waits, and counts no attempt", async () => {
    await startCrawl("c1", [page("/a"), page("/b")]);
    const [a] = await take(T0, { pagesMax: 1 });
    if (a === undefined) throw new Error("no page");
    expect(await store.giveBack(a, T0 + 50)).toBe(true);
    expect(await store.giveBack(a, T0 + 50)).toBe(false);
    expect(await take(T0 + 49)).toEqual([]);
    expect((await take(T0 + 50)).map(({ attempts }) => attempts)).toEqual([1, 1]);
  });

  test("of one owner leave a part of a process's pages to others", async () => {
    const ownerShare = 3 / 4;
    await startCrawl("c1", pages(20));
    await startCrawl("c2", pages(20, "b.test"));
    expect(await take(T0, { pagesMax: 16, ownerShare })).toHaveLength(12);
    await startCrawl("c3", pages(20), { owner: "bob" });
    expect((await take(T0, { pagesMax: 4, ownerShare })).map(({ crawlId }) => crawlId)).toEqual(["c3", "c3", "c3"]);
    await startCrawl("c4", pages(20), { owner: "carol" });
    expect((await take(T0, { pagesMax: 1, ownerShare })).map(({ crawlId }) => crawlId)).toEqual(["c4"]);
    // Another process has pages of its own.
    expect(await take(T0 + 500, { token: "t2", pagesMax: 4, ownerShare })).toHaveLength(4);
  });

  describe("politeness", () => {
    test("holds for a host across crawls and processes", async () => {
      const other = await connect();
      await startCrawl("c1", pages(20));
      await startCrawl("c2", pages(20));
      await startCrawl("c3", pages(1, "b.test"));
      const politeness = { connectionsMax: 2, intervalMs: 0 };
      const seen: LeasedPage[] = [];
      for (let round = 0; round < 10; round += 1) {
        const at = T0 + round * 200;
        const lease = { until: T0 + MANY };
        const taken = await Promise.all([
          store.take({ lease: { ...lease, token: "t1" }, at, pagesMax: 10, politeness }),
          other.take({ lease: { ...lease, token: "t2" }, at, pagesMax: 10, politeness }),
        ]);
        seen.push(...taken.flat());
      }
      expect(seen.filter(({ host }) => host === "a.test")).toHaveLength(2);
      expect(seen.filter(({ host }) => host === "b.test")).toHaveLength(1);
      const first = seen.find(({ host }) => host === "a.test");
      if (first === undefined) throw new Error("no page");
      await store.end(first, { state: "skipped" }, T0 + 5_000);
      const next = await store.take({
        lease: { token: "t1", until: T0 + MANY },
        at: T0 + 5_000,
        pagesMax: 9,
        politeness,
      });
      expect(next).toHaveLength(1);
    });

    test("is five pages a second, whoever asks", async () => {
      await startCrawl("c1", pages(50));
      await startCrawl("c2", pages(50));
      const politeness = { connectionsMax: MANY, intervalMs: 200 };
      const starts: number[] = [];
      for (let at = T0; at < T0 + 10_000; at += 50) {
        starts.push(...(await take(at, { politeness })).map(() => at));
      }
      // Those of a burst at first, and then one each 200 ms.
      expect(starts.length).toBeGreaterThanOrEqual(50);
      expect(starts.length).toBeLessThanOrEqual(55);
      for (const from of starts) {
        expect(starts.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(10);
      }
    });

    test("obeys the pause of a host and that of a crawl exactly", async () => {
      await startCrawl("c1", pages(5));
      await startCrawl("c2", pages(5));
      await store.pace("a.test", 2_000, T0);
      const starts: number[] = [];
      for (let at = T0; at < T0 + 9_000; at += 100) starts.push(...(await take(at)).map(() => at - T0));
      expect(starts).toEqual([0, 2_000, 4_000, 6_000, 8_000]);
      await startCrawl("c0", pages(9, "c.test"));
      await store.pace("c.test", 300, T0);
      const short: number[] = [];
      for (let at = T0; at < T0 + 1_000; at += 100) {
        for (const { host } of await take(at, { token: "t2" })) if (host === "c.test") short.push(at - T0);
      }
      expect(short).toEqual([0, 300, 600, 900]);
      await startCrawl("c3", pages(5, "b.test"), { delayMs: 3_000, concurrencyMax: 1 });
      const delayed: number[] = [];
      for (let at = T0; at < T0 + 9_000; at += 100) {
        for (const each of await take(at, { token: "t3" })) {
          if (each.crawlId !== "c3") continue;
          delayed.push(at - T0);
          await store.end(each, { state: "skipped" }, at);
        }
      }
      expect(delayed).toEqual([0, 3_000, 6_000]);
    });

    test.each([
      ["that is asked ten times a second", 100, 0, [1_000, 1_100, 1_200]],
      ["that is asked once a second", 1_000, 0, [1_000, 2_000, 3_000]],
      ["with a pause of its own", 100, 300, [1_000, 1_300, 1_600]],
    ])("lets a host %s rest to the end", async (_, intervalMs, pauseMs, expected) => {
      const politeness = { connectionsMax: 9, intervalMs };
      await startCrawl("c1", pages(3));
      await store.pace("a.test", pauseMs, T0);
      for (const restMs of [1_000, 500]) await store.rest("a.test", T0 + restMs, politeness);
      const starts: number[] = [];
      const given = { politeness, lease: { token: "t1", until: T0 + MANY } };
      for (let at = T0; starts.length < 3; at += 100) starts.push(...(await take(at, given)).map(() => at - T0));
      expect(starts).toEqual(expected);
    });
  });

  test("keep their own bounds: pages at a time, and pages in all", async () => {
    await startCrawl("c1", pages(9), { concurrencyMax: 2, pagesMax: 3 });
    const first = await take(T0);
    expect(first).toHaveLength(2);
    for (const each of first) await complete(each, each.url);
    const second = await take(T0 + 300);
    expect(second).toHaveLength(1);
    expect(await store.exhausted(T0)).toEqual([]);
    for (const each of second) await store.end(each, { state: "failed", failure: { code: "X", message: "no\0" } }, T0);
    // A failed page leaves its place to another one.
    const third = await take(T0 + 600);
    for (const each of third) await complete(each, each.url);
    expect(await take(T0 + 900)).toEqual([]);
    expect((await store.exhausted(T0)).map(({ id, completed }) => [id, completed])).toEqual([["c1", 3]]);
  });

  test("a crawl that may take no more pages is soon out of another one's way", async () => {
    const hosts = Array.from({ length: 300 }, (_, index) => page("/", { host: `h${index}.test` }));
    await startCrawl("c1", hosts, { concurrencyMax: 3 });
    await store.insert(crawl("c2"), 100);
    await store.add("c2", pages(2, "b.test"), T0 + 1, MANY);
    const taken: LeasedPage[] = [];
    for (let round = 1; round <= 6; round += 1) taken.push(...(await take(T0 + round, { pagesMax: 20 })));
    expect(taken.filter(({ crawlId }) => crawlId === "c1")).toHaveLength(3);
    expect(taken.filter(({ crawlId }) => crawlId === "c2")).toHaveLength(2);
  });

  test("a crawl that is there already is not inserted again, nor changed, by whichever process", async () => {
    const other = await connect();
    const inserted = await Promise.all([
      store.insert(crawl("c1"), 100),
      other.insert(crawl("c1", { pagesMax: 7 }), 100),
      store.insert(crawl("c1"), 100),
    ]);
    expect(inserted.filter(Boolean)).toHaveLength(1);
    expect(await store.find("c1")).toMatchObject({ pagesMax: inserted[1] ? 7 : crawl("c1").pagesMax, discovered: 0 });
  });

  test("a request is replaced while its crawl runs", async () => {
    await startCrawl("c1", pages(1));
    await store.rewrite("c1", { url: "http://b.test/" });
    expect(await store.find("c1")).toMatchObject({ request: { url: "http://b.test/" }, discovered: 1 });
    await store.finish("c1", { state: "cancelled", at: T0, expiresAt: T0 + 1 });
    await store.rewrite("c1", { url: "http://c.test/" });
    expect(await store.find("c1")).toMatchObject({ request: { url: "http://b.test/" } });
  });

  test("are not over before their first page is added, unless their process died", async () => {
    await store.insert(crawl("c1"), 100);
    expect(await store.exhausted(T0)).toEqual([]);
    expect(await store.exhausted(T0 + 1)).toMatchObject([{ id: "c1" }]);
  });

  test("end once; what was under way then changes nothing", async () => {
    await startCrawl("c1", pages(3));
    const [a, b, c] = await take(T0);
    if (a === undefined || b === undefined || c === undefined) throw new Error("not three pages");
    await store.fetched(b, { content: content("B"), work: {}, digest: undefined });
    const end = { state: "cancelled", failure: { code: "X", message: "why" }, at: T0 + 1, expiresAt: T0 + 2 } as const;
    expect(await store.finish("c1", end)).toBe(true);
    expect(await store.finish("c1", { ...end, state: "completed" })).toBe(false);
    expect(await store.find("c1")).toMatchObject({
      state: "cancelled",
      failure: { code: "X", message: "why" },
      endedAt: T0 + 1,
    });
    expect(await store.fetched(a, { content: content("A"), work: {}, digest: undefined })).toBe("lost");
    // It was charged or will be: its result stays.
    expect(await store.end(b, { state: "done", credits: 1n }, T0)).toBe(true);
    expect(await store.giveBack(c, T0)).toBe(true);
    expect(await store.add("c1", [page("/new")], T0, MANY)).toEqual({ added: 0, isFull: false });
    expect(await take(T0 + MANY)).toEqual([]);
    expect(await store.active("alice")).toEqual([]);
    expect(await store.exhausted(T0)).toEqual([]);
  });

  test("have nothing left when all addresses have ended", async () => {
    await startCrawl("c1", [page("/a"), page("/b"), page("/s", { kind: "sitemap" })]);
    expect(await store.exhausted(T0)).toEqual([]);
    const [a, b, sitemap] = await take(T0);
    if (a === undefined || b === undefined || sitemap === undefined) throw new Error("not three pages");
    await complete(a, "A");
    await store.end(b, { state: "blocked", failure: { code: "ROBOTS", message: "no" } }, T0);
    expect(await store.exhausted(T0)).toEqual([]);
    await store.end(sitemap, { state: "skipped" }, T0);
    expect((await store.exhausted(T0)).map(({ id }) => id)).toEqual(["c1"]);
    expect(await store.find("c1")).toMatchObject({ completed: 1, skipped: 2, failed: 0 });
    expect(await store.failures("c1", 9)).toMatchObject([{ isBlocked: true, code: "ROBOTS", url: b.url }]);
  });

  test("page their results by count and by bytes", async () => {
    await startCrawl("c1", pages(5));
    for (const each of await take(T0)) await complete(each, "0123456789");
    const positions = async (from: number, countMax: number, bytesMax: number) =>
      (await store.results("c1", { from, countMax, bytesMax })).map(({ position }) => position);
    expect(await positions(0, 10, 1_000)).toEqual([0, 1, 2, 3, 4]);
    expect(await positions(1, 2, 1_000)).toEqual([1, 2]);
    expect(await positions(1, 9, 25)).toEqual([1, 2]);
    expect(await positions(3, 9, 1)).toEqual([3]);
    expect(await positions(5, 9, 1_000)).toEqual([]);
  });

  test("count what they leave out by reason", async () => {
    await startCrawl("c1", []);
    const note = { code: "TRAP", url: "http://a.test/1", message: "too deep", at: T0 };
    await store.note("c1", note);
    await store.note("c1", { ...note, url: "http://a.test/2", at: T0 + 1 });
    await store.note("c1", { ...note, code: "OTHER", at: T0 + 2 });
    await store.note("none", note);
    expect(await store.notes("c1")).toEqual([
      { ...note, count: 2 },
      { ...note, code: "OTHER", at: T0 + 2, count: 1 },
    ]);
    expect(await store.notes("none")).toEqual([]);
  });

  test("expire, the oldest ended ones of an owner first if there is no room", async () => {
    for (const [index, id] of ["c1", "c2", "c3"].entries()) {
      await startCrawl(id, pages(1), { createdAt: T0 + index });
      for (const each of await take(T0 + 10)) await complete(each, "0123456789");
    }
    await store.finish("c1", { state: "completed", at: T0, expiresAt: T0 + 500 });
    await store.finish("c2", { state: "completed", at: T0, expiresAt: T0 + 500 });
    await store.makeRoom({ id: "c2", owner: "alice" }, 30, T0 + 1);
    expect(await store.find("c1")).toMatchObject({ expiresAt: T0 + 500 });
    await store.makeRoom({ id: "c2", owner: "alice" }, 0, T0 + 1);
    expect(await store.find("c1")).toMatchObject({ expiresAt: T0 + 1 });
    expect(await store.find("c2")).toMatchObject({ expiresAt: T0 + 500 });
    while (await store.deleteExpired(T0 + 1));
    expect(await store.find("c1")).toBeUndefined();
    expect(await store.results("c1", { from: 0, countMax: 9, bytesMax: 99 })).toEqual([]);
    expect(await store.results("c2", { from: 0, countMax: 9, bytesMax: 99 })).toHaveLength(1);
  });

  test("count what a page without a result has cost", async () => {
    await startCrawl("c1", pages(2));
    const [first, second] = await take(T0);
    if (first === undefined || second === undefined) throw new Error("no pages were taken");
    await store.end(first, { state: "skipped", credits: 7n }, T0);
    await store.end(second, { state: "skipped" }, T0);
    expect(await store.find("c1")).toMatchObject({ completed: 0, skipped: 2, credits: 7n });
  });

  test("are too large together, the largest of an owner's running ones", async () => {
    for (const [id, owner, count] of [
      ["c1", "alice", 2],
      ["c2", "alice", 1],
      ["c3", "bob", 2],
    ] as const) {
      await startCrawl(id, pages(count), { owner });
      for (const each of await take(T0 + 10)) await complete(each, "0123456789");
    }
    const idsBeyond = async (bytes: number) => (await store.oversized(bytes)).map(({ id }) => id).toSorted();
    expect(await idsBeyond(30)).toEqual([]);
    expect(await idsBeyond(29)).toEqual(["c1"]);
    expect(await idsBeyond(9)).toEqual(["c1", "c2", "c3"]);
    await store.finish("c1", { state: "cancelled", at: T0, expiresAt: T0 + 500 });
    expect(await idsBeyond(10)).toEqual(["c3"]);
  });
});
