/** How long pages take through the pool of child processes, and what CPU beside other extractors of main content. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { PagePool, type PageRequest } from "../../src/pages/index.ts";
import { findPython } from "../../test/kit/python.ts";
import { useOfTree } from "../system/processes.ts";
import { type BenchPage, makePage } from "./corpus.ts";

interface PageFigures {
  name: string;
  bytes: number;
  /** Of one page through a warm pool, median. */
  wallMs: number;
  /** CPU of the child, a page. */
  cpuMs: number;
  /** CPU of other extractors, a page; null where they are missing. */
  peers: Record<string, number | null>;
}

export interface PagesFigures {
  pages: PageFigures[];
  /** This process and its children while they read the largest page, resident bytes at most. */
  peakBytes: number;
  /** From nothing to the first result, a start of a child included, ms. */
  firstMs: number;
  notes: string[];
}

const peers = ["trafilatura", "crawl4ai"];

const request: PageRequest = {
  url: "https://bench.test/article",
  contentType: "text/html; charset=utf-8",
  wants: { markdown: true },
  onlyMainContent: true,
  includeTags: [],
  excludeTags: [],
  removeBase64Images: true,
  pdf: { parse: true, pagesMax: 100 },
};

export async function measurePages(rounds: number, progress: (line: string) => void): Promise<PagesFigures> {
  const pages = [makePage("50 KB", 50_000), makePage("200 KB", 200_000), makePage("5 MB", 5_000_000)];
  const pool = new PagePool({ children: 1 });
  try {
    const start = performance.now();
    await pool.takeApart(makePage("small", 2_000).bytes, request);
    const firstMs = performance.now() - start;
    const figures: PageFigures[] = [];
    let peakBytes = 0;
    for (const page of pages) {
      progress(`pages: ${page.name}`);
      const times = page.bytes.length > 1_000_000 ? Math.ceil(rounds / 10) : rounds;
      const stopWatching = watchPeak((bytes) => (peakBytes = Math.max(peakBytes, bytes)));
      figures.push({ ...(await measurePage(pool, page, times)), peers: {} });
      stopWatching();
    }
    const notes = await measurePeers(pages, figures, Math.ceil(rounds / 10), progress);
    return { pages: figures, peakBytes, firstMs, notes };
  } finally {
    await pool.close();
  }
}

async function measurePage(
  pool: PagePool,
  { name, bytes }: BenchPage,
  rounds: number,
): Promise<Omit<PageFigures, "peers">> {
  const wall: number[] = [];
  for (let round = 0; round < Math.ceil(rounds / 2); round += 1) await pool.takeApart(bytes, request);
  const before = cpuOf(pool);
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await pool.takeApart(bytes, request);
    wall.push(performance.now() - start);
  }
  const cpuMs = (cpuOf(pool) - before) / rounds;
  return {
    name,
    bytes: bytes.length,
    wallMs: wall.toSorted((one, other) => one - other)[rounds >> 1] ?? Number.NaN,
    cpuMs,
  };
}

function cpuOf(pool: PagePool): number {
  return pool.pids.reduce((sum, pid) => sum + useOfTree(pid).cpuMs, 0);
}

/** How often memory is read. */
const watchMs = 20;

function watchPeak(see: (bytes: number) => void): () => void {
  const timer = setInterval(() => see(useOfTree(process.pid).residentBytes), watchMs);
  return () => clearInterval(timer);
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
  const found = await findPython(`bench/pages/requirements-${peer}.txt`).catch((error: unknown) => ({
    missing: String(error).slice(0, 200),
  }));
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
