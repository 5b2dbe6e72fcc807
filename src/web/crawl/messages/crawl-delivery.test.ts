/** The order of a crawl's messages, on a real store; receivers answer by the test's hand. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { JsonObject } from "../../../core/index.ts";
import type { JobResult } from "../../../jobs/index.ts";
import type { Storage } from "../../../storage/index.ts";
import type { FirecrawlEvent } from "../../../webhooks/index.ts";
import { failureOf } from "../../../../test/kit/failure-of.ts";
import { openStorage } from "../../../../test/kit/storage.ts";
import { compressText } from "../../compress.ts";
import type { LeasedPage } from "../store.ts";
import { openWebStores, type WebStores } from "../../stores/web-stores.ts";
import { CrawlDelivery, firstProgress } from "./crawl-delivery.ts";

const T0 = 2 ** 42;
const MINUTE = 60_000;

let storage: Storage;
let crawls: WebStores["crawls"];
let now: number;
/** The places of the bytes that were sent. */
let sent: string[];
/** Called with the place of each message before it counts as sent. */
let onSend: (place: string) => unknown;
let scheduled: Set<string>;
let pages: LeasedPage[];
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  ({ crawls } = openWebStores(storage));
  [now, sent, scheduled] = [T0, [], new Set()];
  onSend = () => undefined;
});
afterEach(() => storage.close());

/** A crawl of six pages, which are under way. */
async function begin(events = ["started", "page", "completed", "failed"]): Promise<void> {
  const request = { url: "http://a.test/", webhook: { url: "http://hooks.test/", headers: {}, metadata: {}, events } };
  const facts = { id: "c", kind: "crawl", owner: "u", caller: {}, request, pagesMax: 9, concurrencyMax: 9 } as const;
  await crawls.insert({ ...facts, delayMs: 0, createdAt: T0, expiresAt: T0 + 1e9 }, 9);
  const found = Array.from({ length: 6 }, (_, at) => ({ url: `http://a.test/${at}`, key: String(at), host: "a.test" }));
  await crawls.add(
    "c",
    found.map((each) => ({ ...each, kind: "page" as const, depth: 0 })),
    T0,
    99,
  );
  const politeness = { connectionsMax: 9, intervalMs: 0 };
  pages = await crawls.take({ lease: { token: "t", until: T0 + 1e9 }, at: T0, pagesMax: 9, politeness });
}

function pageOf(number: number): LeasedPage {
  const page = pages[number];
  if (page === undefined) throw new Error("no such page");
  return page;
}

async function fetched(number: number, text = "x"): Promise<void> {
  const content = await compressText(JSON.stringify({ markdown: text, metadata: { title: `T${number}` } }));
  await crawls.fetched(pageOf(number), { content, work: {}, digest: undefined });
}

const done = (number: number) => crawls.end(pageOf(number), { state: "done", credits: 0n }, T0);

async function store(number: number, text?: string): Promise<void> {
  await fetched(number, text);
  await done(number);
}

async function fail(number: number): Promise<void> {
  await crawls.end(pageOf(number), { state: "failed", failure: { code: "X", message: "gone" } }, T0);
}

const finish = (state: "completed" | "failed" | "cancelled") =>
  crawls.finish("c", { state, at: T0, expiresAt: T0 + 1e9, failure: { code: "X", message: "no credits" } });

async function run(progress: object = firstProgress, signal = new AbortController().signal): Promise<JobResult> {
  const ticker = {
    now: () => now,
    after: (milliseconds: number, onOver: () => void) => {
      now += milliseconds;
      setImmediate(onOver);
      return () => undefined;
    },
  };
  const webhooks = {
    async send({ id, body }: FirecrawlEvent) {
      const place = id.replace(/^c-/, "");
      await onSend(place);
      if (JSON.stringify(body).length > 1_000) return false;
      sent.push(`${place}${body["success"] === true ? "" : "!"}`);
      return true;
    },
    hasScheduled: async (prefix: string) => [...scheduled].some((id) => id.startsWith(prefix)),
  };
  const handler = new CrawlDelivery({ crawls, webhooks, clock: () => now, ticker });
  const job = { id: "crawl-webhook:c", kind: "crawl-webhook", owner: "u", runAt: T0, createdAt: T0, attempts: 1 };
  return handler.run({ ...job, payload: { id: "c", ...progress }, lease: undefined }, { signal });
}

const progressOf = (result: JobResult): JsonObject => ("again" in result ? result.again : {});

test("started, pages as they were stored, those that failed, and the end", async () => {
  await begin();
  for (const number of [3, 0, 5]) await store(number);
  await fail(4);
  await store(1);
  await fail(2);
  await finish("completed");
  expect(await run()).toEqual({ done: true });
  expect(sent).toEqual(["started", "page-3", "page-0", "page-5", "page-1", "page-4!", "page-2!", "end"]);
});

test("pages are sent while the crawl runs, and what was sent is not sent again", async () => {
  await begin();
  await store(2);
  const first = await run();
  expect([sent, first]).toEqual([
    ["started", "page-2"],
    { again: { id: "c", isStarted: true, pages: 1, failures: 0 }, afterMs: 0 },
  ]);
  await store(0);
  const second = await run(progressOf(first));
  expect(sent).toEqual(["started", "page-2", "page-0"]);
  for (const number of [1, 3, 4, 5]) await store(number);
  await finish("failed");
  expect(await run(progressOf(second))).toEqual({ done: true });
  expect(sent).toEqual(["started", "page-2", "page-0", "page-1", "page-3", "page-4", "page-5", "end!"]);
});

test("the end waits for messages that were refused, ten minutes at most", async () => {
  await begin();
  for (const number of [0, 1, 2, 3, 4, 5]) await store(number);
  await finish("completed");
  scheduled.add("c-page-0");
  let result = await run();
  expect([sent.at(-1), result]).toMatchObject(["page-5", { afterMs: 1_000 }]);
  now += 9 * MINUTE;
  result = await run(progressOf(result));
  expect(sent.at(-1)).toBe("page-5");
  now += MINUTE;
  expect(await run(progressOf(result))).toEqual({ done: true });
  expect(sent.at(-1)).toBe("end");
});

test("and for pages that were stored before it, and are charged after", async () => {
  await begin();
  for (const number of [0, 1, 2, 3, 4]) await store(number);
  await fetched(5);
  await finish("failed");
  const result = await run();
  expect([sent.at(-1), result]).toMatchObject(["page-4", { afterMs: 0 }]);
  await done(5);
  expect(await run(progressOf(result))).toEqual({ done: true });
  expect(sent.slice(-2)).toEqual(["page-5", "end!"]);
});

test("a run that is aborted amid a message sends that message again", async () => {
  await begin();
  await store(0);
  await store(1);
  const stopping = new AbortController();
  onSend = (place) => {
    if (place !== "page-1") return;
    stopping.abort();
    throw new Error("the server stops");
  };
  const result = await run(firstProgress, stopping.signal);
  expect([sent, progressOf(result)["pages"]]).toEqual([["started", "page-0"], 1]);
  onSend = () => undefined;
  await run(progressOf(result));
  expect(sent).toEqual(["started", "page-0", "page-1"]);
});

test("one that fails otherwise is repeated by its runner", async () => {
  await begin();
  onSend = () => Promise.reject(new Error("the database is locked"));
  expect(await failureOf(run())).toMatchObject({ message: "the database is locked" });
});

test("a page that is too large is named, and events that nobody wants are not sent", async () => {
  await begin(["page"]);
  await store(0, "x".repeat(5_000));
  for (const number of [1, 2, 3, 4, 5]) await fail(number);
  await finish("completed");
  expect(await run()).toEqual({ done: true });
  expect(sent).toEqual(["page-0", "page-1!", "page-2!", "page-3!", "page-4!", "page-5!"]);
});

test("a crawl that was cancelled has no end, and one that is gone nothing", async () => {
  await begin();
  await store(0);
  await finish("cancelled");
  expect(await run()).toEqual({ done: true });
  expect(sent).toEqual(["started", "page-0"]);
  await crawls.makeRoom({ id: "other", owner: "u" }, 0, T0);
  while (await crawls.deleteExpired(T0 + 2e9)) continue;
  expect(await run()).toEqual({ done: true });
  expect(sent).toHaveLength(2);
});
