/**
 * Other callers' chat calls without and beside a crawl, eight scrapes at once, and batches of 10,000 lines; and how fast the crawl is,
 * beside a peer's.
 */
import { join } from "node:path";
import { type Gateway, startGateway } from "../../test/kit/gateway.ts";
import { Children, type HelperProcess } from "../system/children.ts";
import { Helper } from "../system/helper.ts";
import { peerPython } from "../system/peer-python.ts";
import { useOfTree } from "../system/processes.ts";
import { chatAtFixedTimes, type ChatFigures } from "./chat.ts";

export interface SubjectFigures {
  title: string;
  alone: ChatFigures;
  beside: ChatFigures;
  /** Or lines of batches. */
  pagesPerSecond: number;
  /** CPU of what reads the pages, a page: the gateway and its children, or the peer. */
  cpuMsOfPage: number;
  /** By how much the memory of its process has grown meanwhile. */
  grownBytes: number;
  /** Why the figures don't count. */
  problem: string | null;
}

export interface BesideFigures {
  crawl: SubjectFigures;
  scrapes: SubjectFigures;
  batch: SubjectFigures;
  /** The same site, crawled by crawl4ai without a browser; or why there are no figures of it. */
  peer: SubjectFigures | { missing: string };
}

/** Chat calls a second: few, so that the machine is left to the pages. */
const callsPerSecond = 50;
const scrapesAtOnce = 8;
const warmUpMs = 3_000;
const batchLines = 10_000;
/** How often a subject is looked after. */
const tickMs = 1_000;

/** Reads pages until it is stopped. */
interface Subject {
  /** The process that does it, with its children. */
  pid: number;
  pages(): Promise<number>;
  /** Called from time to time: work that has ended begins again. */
  tick?(): Promise<void>;
  stop(): Promise<void>;
}

interface Scene {
  gateway: Gateway;
  site: string;
  token: string;
}

export async function measureBeside(seconds: number, progress: (line: string) => void): Promise<BesideFigures> {
  const children = new Children();
  const helper = new Helper(children.startHelper([process.execPath, join(import.meta.dirname, "main.ts")]));
  const { url: site } = await helper.next<{ url: string }>();
  const crawl = { pages_per_second: 0, connections_per_host: 16 };
  const gateway = await startGateway({
    providers: { openai: { kind: "openai", base_url: `${site}/v1`, api_key: "bench" } },
    // The provider of this run has no batches of its own.
    config: { web: { allow_private_hosts: [new URL(site).host], crawl }, batches: { native: "off" } },
  });
  try {
    const scene = { gateway, site, token: await gateway.token({ user: "bench", service: true }) };
    const measure = async (title: string, start: (scene: Scene) => Promise<Subject>): Promise<SubjectFigures> => {
      progress(`beside: ${title}`);
      return { title, ...(await measureSubject(scene, start, seconds)) };
    };
    const scrapes = await measure("8 scrapes at once", startScrapes);
    const batch = await measure("batches of 10,000 lines", startBatches);
    const own = { scrapes, batch, crawl: await measure("a crawl", startCrawl) };
    const python = await peerPython("crawl4ai");
    if ("missing" in python) return { ...own, peer: python };
    const program = [python.python, join(import.meta.dirname, "peer-crawl.py"), `${site}/page/1`];
    const peer = await measure("crawl4ai's crawl", () => startPeer(children.startHelper(program)));
    return { ...own, peer };
  } finally {
    await gateway.stop();
    await helper.stop();
  }
}

async function measureSubject(scene: Scene, start: (scene: Scene) => Promise<Subject>, seconds: number) {
  await chat(scene, warmUpMs / 1_000);
  const alone = await chat(scene, seconds);
  const subject = await start(scene);
  const timer = setInterval(() => void subject.tick?.(), tickMs);
  await chat(scene, warmUpMs / 1_000);
  const use = (): ReturnType<typeof useOfTree> => useOfTree(subject.pid);
  const before = { at: performance.now(), pages: await subject.pages(), ...use() };
  const beside = await chat(scene, seconds);
  const after = use();
  const used = { ms: performance.now() - before.at, cpuMs: after.cpuMs - before.cpuMs };
  const grownBytes = after.residentBytes - before.residentBytes;
  const pages = (await subject.pages()) - before.pages;
  clearInterval(timer);
  await subject.stop();
  const expected = Math.floor(callsPerSecond * seconds);
  const problem =
    alone.calls + beside.calls < 2 * expected ? "chat calls failed" : pages === 0 ? "no page was read" : null;
  const pagesPerSecond = (pages * 1_000) / used.ms;
  return { alone, beside, pagesPerSecond, cpuMsOfPage: used.cpuMs / pages, grownBytes, problem };
}

const chat = ({ gateway: { url }, token }: Scene, seconds: number): Promise<ChatFigures> =>
  chatAtFixedTimes({ url, token, perSecond: callsPerSecond, seconds });

async function ask<Answer>({ gateway, token }: Scene, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(gateway.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

async function startScrapes(scene: Scene): Promise<Subject> {
  let pages = 0;
  const over = new AbortController();
  let next = 500_000;
  const scrape = async (): Promise<void> => {
    while (!over.signal.aborted) {
      next += 1;
      await ask(scene, "/v2/scrape", { url: `${scene.site}/page/${next}`, maxAge: 0 });
      pages += 1;
    }
  };
  const running = Array.from({ length: scrapesAtOnce }, scrape);
  return {
    pid: scene.gateway.process.pid,
    pages: () => Promise.resolve(pages),
    stop: async () => {
      over.abort();
      await Promise.all(running);
    },
  };
}

async function startCrawl(scene: Scene): Promise<Subject> {
  const body = { url: `${scene.site}/page/1`, crawlEntireDomain: true, limit: 100_000, maxConcurrency: 100 };
  const { id } = await ask<{ id: string }>(scene, "/v2/crawl", { ...body, sitemap: "skip" });
  return {
    pid: scene.gateway.process.pid,
    pages: async () => (await ask<{ completed: number }>(scene, `/v2/crawl/${id}?limit=1`)).completed,
    stop: async () => {
      const headers = { authorization: `Bearer ${scene.token}` };
      await fetch(`${scene.gateway.url}/v2/crawl/${id}`, { method: "DELETE", headers });
    },
  };
}

/** Batches one after the other, each of 10,000 calls. */
async function startBatches(scene: Scene): Promise<Subject> {
  const path = "/v1/chat/completions";
  const messages = [{ role: "user", content: "Hello!" }];
  const lines = Array.from({ length: batchLines }, (_, index) =>
    JSON.stringify({
      custom_id: `line-${index}`,
      method: "POST",
      url: path,
      body: { model: "openai/slow-model", messages },
    }),
  );
  const authorization = `Bearer ${scene.token}`;
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob([lines.join("\n")]), "lines.jsonl");
  const uploaded = await fetch(`${scene.gateway.url}/v1/files`, {
    method: "POST",
    headers: { authorization },
    body: form,
  });
  const { id: input_file_id } = (await uploaded.json()) as { id: string };
  const begin = (): Promise<{ id: string }> =>
    ask(scene, "/v1/batches", { input_file_id, endpoint: path, completion_window: "24h" });
  let ended = 0;
  let { id } = await begin();
  return {
    pid: scene.gateway.process.pid,
    async pages() {
      const { completed } = (await ask<{ request_counts: { completed: number } }>(scene, `/v1/batches/${id}`))
        .request_counts;
      return ended + completed;
    },
    async tick() {
      const { status, request_counts: counts } = await ask<{ status: string; request_counts: { completed: number } }>(
        scene,
        `/v1/batches/${id}`,
      );
      if (status !== "completed") return;
      ended += counts.completed;
      ({ id } = await begin());
    },
    stop: async () => void (await ask(scene, `/v1/batches/${id}/cancel`, {}).catch(() => undefined)),
  };
}

/** A process that crawls the site by itself. */
async function startPeer(child: HelperProcess): Promise<Subject> {
  const peer = new Helper(child);
  await peer.next();
  return {
    pid: peer.pid,
    pages: async () => (await peer.ask<{ pages: number }>({})).pages,
    stop: () => peer.stop(),
  };
}
