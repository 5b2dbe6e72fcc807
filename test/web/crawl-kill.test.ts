/** `kill -9` in mid-crawl, on one node and on two: no page is lost, fetched twice at the same moment, or charged twice. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { Ledger, openLedgerStore } from "../../src/ledger/index.ts";
import {
  engines,
  expectCleanAudit,
  type Gateway,
  letLeasesLapse,
  oneCredit,
  type PostgresServer,
  queryWeb,
  startGateway,
  startPostgres,
  startScriptedUpstream,
  storageOn,
  until,
} from "../kit/index.ts";
import { docsOnly } from "./site/crawl-expected.ts";
import { type CrawlSite, startCrawlSite } from "./site/crawl-site.ts";

const PAGE = oneCredit / 1_000n;
const PAGES = docsOnly.length;

let postgres: PostgresServer;
let site: CrawlSite;
beforeAll(async () => {
  postgres = await startPostgres();
  site = await startCrawlSite();
});
afterAll(async () => {
  await site.stop();
  await postgres.stop();
});

interface Status {
  status: string;
  completed: number;
  creditsUsed: number;
  data: { metadata: Record<string, unknown> }[];
}

/** `more`: providers and a model for extractions. */
function start(storage: string | undefined, folder?: string, more: Extracting = {}): Promise<Gateway> {
  const { providers = {}, model } = more;
  return startGateway({
    providers,
    ...(storage !== undefined && { storage }),
    ...(folder !== undefined && { folder }),
    config: {
      web: {
        ...(model !== undefined && { model }),
        allow_private_hosts: ["127.0.0.1:*"],
        crawl: { pages_per_second: 0, connections_per_host: 4, pages: 4 },
      },
    },
  });
}

interface Extracting {
  providers?: Record<string, object>;
  model?: string;
}

async function ask<Answer>(gateway: Gateway, token: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  return (await (await fetch(`${gateway.url}${path}`, init)).json()) as Answer;
}

async function kill(gateway: Gateway): Promise<void> {
  gateway.process.kill("SIGKILL");
  await gateway.process.exited;
}

/** A dead node's leases of pages and of holds run out. */
async function letAllLapse({ storage }: Gateway): Promise<void> {
  await queryWeb(storage, "UPDATE crawl_pages SET lease_until = 1 WHERE lease_token IS NOT NULL");
  await letLeasesLapse(storage);
}

describe.each([
  ["one node, on SQLite", 1],
  ["one of two nodes, on Postgres", 2],
] as const)("killing %s", (_, nodes) => {
  test("loses no page and charges none twice", async () => {
    site.clear();
    const storage = nodes === 2 ? await postgres.createDatabase() : undefined;
    const first = await start(storage);
    const other = nodes === 2 ? await start(storage) : undefined;
    const token = await first.token({ user: "alice" });
    const { id } = await ask<{ id: string }>(first, token, "/v2/crawl", {
      url: `${site.url}/docs/`,
      limit: 500,
      scrapeOptions: { maxAge: 0 },
    });
    const completed = async (of: Gateway): Promise<Status> => ask<Status>(of, token, `/v2/crawl/${id}?limit=1`);
    await until("it is under way", async () => (await completed(other ?? first)).completed >= PAGES / 4, 60_000);
    await kill(first);
    const survivor = other ?? (await start(undefined, first.folder));
    await letAllLapse(survivor);
    await until("it has ended", async () => (await completed(survivor)).status !== "scraping", 90_000);

    const job = await ask<Status>(survivor, token, `/v2/crawl/${id}`);
    const found = job.data.map(({ metadata }) => metadata["page-id"]);
    expect([job.status, job.completed]).toEqual(["completed", PAGES]);
    expect(found.map(String).toSorted()).toEqual([...docsOnly].toSorted());
    // Requests of one page never overlap.
    for (const path of docsOnly) expect(site.mostAtOnce((request) => request.path === path)).toBeLessThanOrEqual(1);

    await new Ledger({ store: openLedgerStore(survivor.storage) }).submit({ kind: "sweep", at: Date.now() });
    const [account] = await openLedgerStore(survivor.storage).chain("user:alice", Date.now());
    expect({ spent: account?.debitsPosted, held: account?.debitsPending }).toEqual({
      spent: BigInt(PAGES) * PAGE,
      held: 0n,
    });
    expect(job.creditsUsed).toBe(Number(BigInt(PAGES) * PAGE) / 1e9);
    await expectCleanAudit(survivor);
    await survivor.stop();
    await first.storage.close();
    rmSync(first.folder, { recursive: true, force: true });
  });
});

test("a start whose process is killed is repeated with its retry key, and is one crawl", async () => {
  site.clear();
  let gateway = await start(undefined);
  const { folder } = gateway;
  const token = await gateway.token({ user: "bob" });
  const startOnce = async (key: string): Promise<string> => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": key,
    };
    const body = JSON.stringify({ url: `${site.url}/docs/`, limit: 1, sitemap: "skip", scrapeOptions: { maxAge: 0 } });
    const answer = await fetch(`${gateway.url}/v2/crawl`, { method: "POST", headers, body });
    return ((await answer.json()) as { id: string }).id;
  };
  const rows = async (): Promise<number> => (await queryWeb(gateway.storage, "SELECT id FROM crawls")).length;
  // The moments: the request may have arrived, the crawl is stored, its page is read.
  const moments = [
    (): Promise<unknown> => Promise.resolve(),
    (): Promise<unknown> => until("it is stored", async () => (await rows()) === 2),
    (): Promise<unknown> => until("its page is read", () => site.visits("/docs/").length > 0),
  ];
  const ids: string[] = [];
  for (const [index, moment] of moments.entries()) {
    site.clear();
    const first = startOnce(`key-${index}`).catch(() => undefined);
    await moment();
    await kill(gateway);
    const known = await first;
    await gateway.storage.close();
    gateway = await start(undefined, folder);
    await letAllLapse(gateway);
    const id = await startOnce(`key-${index}`);
    if (known !== undefined) expect(id).toBe(known);
    await until("it has ended", async () => {
      const { status } = await ask<Status>(gateway, token, `/v2/crawl/${id}`);
      return status === "completed";
    });
    expect(await startOnce(`key-${index}`)).toBe(id);
    ids.push(id);
    expect(await rows()).toBe(ids.length);
  }
  await new Ledger({ store: openLedgerStore(gateway.storage) }).submit({ kind: "sweep", at: Date.now() });
  const [account] = await openLedgerStore(gateway.storage).chain("user:bob", Date.now());
  expect({ spent: account?.debitsPosted, held: account?.debitsPending }).toEqual({ spent: 3n * PAGE, held: 0n });
  await expectCleanAudit(gateway);
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The model answers each question once it may. */
function startModel() {
  const gates: PromiseWithResolvers<void>[] = [];
  const upstream = startScriptedUpstream();
  upstream.answerWith(async () => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    const message = { role: "assistant", content: '{"title":"Docs"}' };
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return Response.json({ id: "c", object: "chat.completion", choices, usage });
  });
  const providers = { openai: { kind: "openai", base_url: upstream.url, api_key: "unused" } };
  return { ...upstream, gates, providers, model: "openai/gpt-asked" };
}

/** Two pages whose texts do not fit into one question. */
function startLongPages(): Bun.Server<undefined> {
  const sentence = "The tide comes in twice a day, and twice a day it leaves the harbour to the gulls and the boats. ";
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => {
      const paragraph = `<p>${url.slice(-1)} ${sentence.repeat(10)}</p>`;
      return new Response(`<!doctype html><title>Tides</title><main>${paragraph.repeat(150)}</main>`, {
        headers: { "content-type": "text/html" },
      });
    },
  });
}

/** Starts a crawl with a prompt under one retry key, and resolves with the answer. */
async function startPrompted({ url: base }: Gateway, token: string, url: string): Promise<{ id?: string }> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": "prompted",
  };
  const body = JSON.stringify({ url, prompt: "The docs.", limit: 1, sitemap: "skip", scrapeOptions: { maxAge: 0 } });
  return (await (await fetch(`${base}/v2/crawl`, { method: "POST", headers, body })).json()) as { id?: string };
}

test.each(engines)("an extraction on %s goes on after kills, at one node, and pays nothing twice", async (engine) => {
  site.clear();
  const { storage } = await storageOn(engine, postgres);
  const asked = startModel();
  const pages = startLongPages();
  /** The cost of the jobs beside it. */
  let besides = engine === "Postgres" ? PAGE : 0n;
  const questions = (count: number): Promise<unknown> =>
    until(`the model is asked ${count} times`, () => asked.gates.length === count, 60_000);
  try {
    const first = await start(storage, undefined, asked);
    const beside = engine === "Postgres" ? (folder: string) => start(storage, folder, asked) : undefined;
    const token = await first.token({ user: "carol" });
    const urls = [`${site.url}/docs/chapter-1/*`, `${pages.url.href}1`, `${pages.url.href}2`];
    const body = { urls, prompt: "The title.", scrapeOptions: { maxAge: 0 } };
    const { id } = await ask<{ id: string }>(first, token, "/v2/extract", body);
    await until("a page was read", () => site.visits("/docs/chapter-1/page-1").length > 0, 60_000);
    await kill(first);
    const second = await start(storage, first.folder, asked);
    await letAllLapse(second);
    await questions(1);
    const living = await beside?.(first.folder);
    if (living !== undefined) {
      // The other node works, and leaves this job to the one that has it.
      const batch = { urls: [`${site.url}/docs/`], maxAge: 0 };
      const other = await ask<{ id: string }>(living, token, "/v2/batch/scrape", batch);
      const status = (): Promise<Status> => ask<Status>(living, token, `/v2/batch/scrape/${other.id}`);
      await until("a job beside it has ended", async () => (await status()).status === "completed", 60_000);
      expect(asked.gates).toHaveLength(1);
      // Both are asked to start one crawl, whose options the model makes.
      const starts = [second, living].map((gateway) => startPrompted(gateway, token, `${site.url}/docs/`));
      await questions(2);
      expect(await Promise.race(starts)).toMatchObject({ code: "idempotency_key_in_use" });
      asked.gates[1]?.resolve();
      const { id: prompted } = (await Promise.all(starts)).find((answer) => "id" in answer) ?? {};
      for (const gateway of [second, living])
        expect(await startPrompted(gateway, token, `${site.url}/docs/`)).toMatchObject({ id: prompted });
      const crawl = (): Promise<Status> => ask<Status>(living, token, `/v2/crawl/${String(prompted)}`);
      const { creditsUsed } = await until("it has ended", async () => {
        const state = await crawl();
        return state.status === "completed" && state;
      });
      besides += BigInt(Math.round(creditsUsed * 1e9));
    }
    const before = asked.gates.length;
    await kill(second);
    const third = living ?? (await start(storage, first.folder, asked));
    await letAllLapse(third);
    await new Ledger({ store: openLedgerStore(third.storage) }).submit({ kind: "sweep", at: Date.now() });
    await questions(before + 1);
    asked.gates[before]?.resolve();
    // The second question, of the rest of the pages.
    await questions(before + 2);
    await kill(third);
    const fourth = await start(storage, first.folder, asked);
    await letAllLapse(fourth);
    await new Ledger({ store: openLedgerStore(fourth.storage) }).submit({ kind: "sweep", at: Date.now() });
    await questions(before + 3);
    for (const { resolve } of asked.gates) resolve();
    // The one that joins both answers.
    await questions(before + 4);
    asked.gates[before + 3]?.resolve();
    const job = await until("it has ended", async () => {
      const path = `/v2/extract/${id}`;
      const state = await ask<{ status: string; data: unknown; creditsUsed: number }>(fourth, token, path);
      return state.status !== "processing" && state;
    });
    expect(job).toMatchObject({ status: "completed", data: { title: "Docs" } });
    const { data } = await ask<{ data: { operation: string; credits: number; status: string }[] }>(
      fourth,
      token,
      `/v1/generations?parent_id=${id}&limit=100`,
    );
    expect(data.filter(({ operation }) => operation === "map").length).toBe(1);
    await new Ledger({ store: openLedgerStore(fourth.storage) }).submit({ kind: "sweep", at: Date.now() });
    const [account] = await openLedgerStore(fourth.storage).chain("user:carol", Date.now());
    expect(account?.debitsPending).toBe(0n);
    expect(job.creditsUsed).toBe(Number((account?.debitsPosted ?? 0n) - besides) / 1e9);
    await expectCleanAudit(fourth);
    await fourth.stop();
    for (const gateway of new Set([third, second, first])) await gateway.storage.close();
    rmSync(first.folder, { recursive: true, force: true });
  } finally {
    await pages.stop(true);
    await asked.stop();
  }
});
