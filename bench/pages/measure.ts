/** How long scrapes of pages take, and what CPU beside other extractors of main content. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { type Gateway, startGateway } from "../../test/kit/gateway.ts";
import { median } from "../report/median.ts";
import { peerPython } from "../system/peer-python.ts";
import { peakBytesOfTree, resetPeak, sharedBytesOfTree, useOfTree } from "../system/processes.ts";
import { type BenchPage, makePage } from "./corpus.ts";

interface PageFigures {
  name: string;
  bytes: number;
  /** Of one scrape by a gateway that has scraped before, median. */
  wallMs: number;
  /** CPU of the gateway and its children, a page. */
  cpuMs: number;
  /** CPU of other extractors, a page; null if they are missing. */
  peers: Record<string, number | null>;
}

export interface PagesFigures {
  pages: PageFigures[];
  /** The gateway and its children while they scrape the largest page: the most resident bytes of each, the program's own once. */
  peakBytes: number;
  /** The first scrape after a start, ms. */
  firstMs: number;
  notes: string[];
}

const peers = ["trafilatura", "crawl4ai"];

/** Scrapes made-up pages of a site on loopback through a gateway of its own. */
export async function measurePages(rounds: number, progress: (line: string) => void): Promise<PagesFigures> {
  const small = makePage("small", 2_000);
  const pages = [makePage("50 KB", 50_000), makePage("200 KB", 200_000), makePage("5 MB", 5_000_000)];
  const site = servePages([small, ...pages]);
  const gateway = await startGateway({ providers: {}, config: { web: { allow_private_hosts: [site.host] } } });
  try {
    const scraper = new Scraper(gateway, await gateway.token(), site);
    const firstMs = await scraper.scrape(small);
    const figures: PageFigures[] = [];
    for (const page of pages) {
      progress(`pages: ${page.name}`);
      // The peaks are those of the last and largest page.
      resetPeak(gateway.process.pid);
      figures.push(await measurePage(scraper, page, page.bytes.length > 1_000_000 ? Math.ceil(rounds / 10) : rounds));
    }
    const { pid } = gateway.process;
    const peakBytes = peakBytesOfTree(pid) - sharedBytesOfTree(pid);
    const notes = await measurePeers(pages, figures, Math.ceil(rounds / 10), progress);
    return { pages: figures, peakBytes, firstMs, notes };
  } finally {
    await gateway.stop();
    await site.stop();
  }
}

interface PageSite {
  host: string;
  addressOf: (page: BenchPage) => string;
  stop: () => Promise<void>;
}

function pathOf({ name }: BenchPage): string {
  return `/${name.replace(" ", "-")}`;
}

function servePages(pages: readonly BenchPage[]): PageSite {
  const headers = { "content-type": "text/html; charset=utf-8" };
  const routes = Object.fromEntries(pages.map((page) => [pathOf(page), new Response(page.bytes, { headers })]));
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, routes });
  const host = `127.0.0.1:${server.port}`;
  return { host, addressOf: (page) => `http://${host}${pathOf(page)}`, stop: () => server.stop(true) };
}

class Scraper {
  readonly #gateway: Gateway;
  readonly #token: string;
  readonly #site: PageSite;

  constructor(gateway: Gateway, token: string, site: PageSite) {
    this.#gateway = gateway;
    this.#token = token;
    this.#site = site;
  }

  /** Returns the milliseconds until the whole answer was there. */
  async scrape(page: BenchPage): Promise<number> {
    const start = performance.now();
    const answer = await fetch(`${this.#gateway.url}/v2/scrape`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: JSON.stringify({ url: this.#site.addressOf(page), formats: ["markdown"], maxAge: 0, storeInCache: false }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`scrape of ${page.name}: ${answer.status} ${text.slice(0, 300)}`);
    return performance.now() - start;
  }

  /** CPU of the gateway and its children so far, ms. */
  get cpuMs(): number {
    return useOfTree(this.#gateway.process.pid).cpuMs;
  }
}

async function measurePage(scraper: Scraper, page: BenchPage, rounds: number): Promise<PageFigures> {
  const wall: number[] = [];
  for (let round = 0; round < Math.ceil(rounds / 2); round += 1) await scraper.scrape(page);
  const before = scraper.cpuMs;
  for (let round = 0; round < rounds; round += 1) wall.push(await scraper.scrape(page));
  const cpuMs = (scraper.cpuMs - before) / rounds;
  return { name: page.name, bytes: page.bytes.length, wallMs: median(wall), cpuMs, peers: {} };
}

async function measurePeers(
  pages: readonly BenchPage[],
  figures: PageFigures[],
  rounds: number,
  progress: (line: string) => void,
): Promise<string[]> {
  const notes: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  try {
    const files = pages.map(({ name, bytes }) => {
      const file = join(folder, `${name.replace(" ", "-")}.html`);
      writeFileSync(file, bytes);
      return file;
    });
    for (const peer of peers) {
      progress(`pages: ${peer}`);
      const measured = await measurePeer(peer, files, rounds);
      if (typeof measured === "string") notes.push(`No figures for ${peer}: ${measured}.`);
      for (const [index, figure] of figures.entries())
        figure.peers[peer] = typeof measured === "string" ? null : (measured[index] ?? null);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return notes;
}

/** CPU of each file, ms, or why there is none. */
async function measurePeer(peer: string, files: readonly string[], rounds: number): Promise<number[] | string> {
  const found = await peerPython(peer);
  if ("missing" in found) return found.missing;
  const child = Bun.spawn([found.python, join(import.meta.dirname, "peers.py"), peer, String(rounds), ...files], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) return errors.trim().split("\n").at(-1) ?? "it failed";
  return z.array(z.number()).parse(JSON.parse(output.trim().split("\n").at(-1) ?? ""));
}
