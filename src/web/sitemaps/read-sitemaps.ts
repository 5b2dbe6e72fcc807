/**
 * Reads the sitemaps of a site (sitemaps.org): those that its robots.txt lists, else the usual one; indexes lead to further
 * ones. The page pool takes them apart. Whatever a site answers, files, bytes, addresses, characters and time are bounded.
 */
import { abortSignalOf, type CallSignal, type Environment, Slices } from "../../core/index.ts";
import { type Outbound, OutboundError, retryAfterMs } from "../../outbound/index.ts";
import {
  PageError,
  type PagePool,
  type Sitemap,
  sitemapAddressesMax,
  sitemapBytesMax,
  sitemapCharactersMax,
  type SitemapEntry,
  type SitemapRequest,
} from "../../pages/index.ts";
import type { MemoryBudget, MemoryShare } from "../../streaming/index.ts";
import { firstBytes } from "../first-bytes.ts";

/** Sitemaps of one site that are read. */
const FILES_MAX = 200;

/** The time in which one of them has to arrive. */
const FILE_MS_MAX = 20_000;

/** The least time to take one apart: what has arrived in time is read. */
const READ_MS_MIN = 1_000;

const REDIRECTS_MAX = 5;

export interface SitemapDependencies {
  outbound: Pick<Outbound, "fetch">;
  pages: Pick<PagePool, "readSitemap">;
  memory: MemoryBudget;
  userAgent: string;
  environment: Pick<Environment, "clock">;
}

export interface SitemapReading {
  /** The user who asks for them. */
  owner: string;
  /** An address of the site. */
  siteUrl: string;
  /** The sitemaps that its robots.txt lists. */
  listed: readonly string[];
  /** Sitemaps that are read at the same time. */
  filesAtOnce: number;
  /** Takes a page; returns false if it has no room for it: then nothing more is read. */
  onPage: (page: SitemapEntry) => boolean;
  signal: CallSignal;
  /** Milliseconds that are left, zero or less if the time is over. */
  timeLeft: () => number;
}

/** Why a part of the sitemaps was not read, for the errors of a crawl and the warning of a map. */
export const sitemapProblems = {
  SITEMAP_TRUNCATED: `Sitemaps are read up to ${FILES_MAX} files, ${sitemapBytesMax / 1_048_576} MiB a file, ${sitemapAddressesMax} addresses and ${sitemapCharactersMax} characters of them.`,
  SITEMAP_TIMEOUT: "The sitemaps took too long: only what came in time was read.",
  RATE_LIMITED: "The server asked for fewer requests: a part of its sitemaps was not read.",
  SITEMAP_UNREADABLE: "A sitemap that robots.txt or another sitemap lists could not be read, or not to its end.",
} as const;

type SitemapProblem = keyof typeof sitemapProblems;

export interface SitemapsRead {
  /** Each problem that there was, with the address of the first sitemap that it concerns. */
  left: ReadonlyMap<SitemapProblem, string>;
  /** The longest `retry-after` of a sitemap that was answered with 429 or 503, in milliseconds; undefined if there is none. */
  retryAfterMs: number | undefined;
}

/**
 * Reads the sitemaps until there are no more or a bound is reached. Rejects with the reason of the signal, with a `PageError` if
 * too many documents wait for the page pool, and with a `GatewayError` if too many of the owner's do, or memory is short.
 */
export async function readSitemaps(deps: SitemapDependencies, reading: SitemapReading): Promise<SitemapsRead> {
  const walk = new SitemapWalk(deps, reading);
  await walk.run();
  return walk;
}

class SitemapWalk {
  readonly left = new Map<SitemapProblem, string>();
  retryAfterMs: number | undefined;
  readonly #deps: SitemapDependencies;
  readonly #reading: SitemapReading;
  readonly #waiting: string[] = [];
  readonly #seen = new Set<string>();
  /** The sitemap that nothing lists. */
  readonly #usual: string | undefined;
  readonly #slices = new Slices();
  #addresses = 0;
  #characters = 0;
  #isOver = false;

  constructor(deps: SitemapDependencies, reading: SitemapReading) {
    this.#deps = deps;
    this.#reading = reading;
    const { siteUrl, listed } = reading;
    for (const each of listed) {
      const url = URL.parse(each, siteUrl)?.href;
      if (url !== undefined && !this.#add(url)) this.left.set("SITEMAP_TRUNCATED", url);
    }
    if (this.#waiting.length > 0) return;
    this.#usual = new URL("/sitemap.xml", siteUrl).href;
    this.#add(this.#usual);
  }

  async run(): Promise<void> {
    const { filesAtOnce } = this.#reading;
    // One that has nothing to do begins again once another has found an index.
    while (this.#waiting.length > 0 && !this.#isOver) {
      const readers = await Promise.allSettled(Array.from({ length: filesAtOnce }, () => this.#readWaiting()));
      for (const reader of readers) if (reader.status === "rejected") throw reader.reason;
    }
  }

  async #readWaiting(): Promise<void> {
    try {
      for (let next = this.#waiting.shift(); next !== undefined && !this.#isOver; next = this.#waiting.shift()) {
        if (this.#reading.timeLeft() <= 0) this.#end("SITEMAP_TIMEOUT", next);
        else await this.#readOne(next);
      }
    } catch (reason) {
      this.#isOver = true;
      throw reason;
    }
  }

  /** A sitemap that cannot be read is left out. */
  async #readOne(url: string): Promise<void> {
    const memory = this.#deps.memory.share();
    try {
      const file = await this.#fetch(url, memory);
      if (file === undefined) this.#note("SITEMAP_UNREADABLE", url);
      else if (file === "busy") this.#note("RATE_LIMITED", url);
      else await this.#take(await this.#read(file), url);
    } catch (reason) {
      if (this.#reading.signal.aborted) throw reason;
      const isOver = reason instanceof PageError && this.#reading.timeLeft() <= 0;
      this.#note(isOver ? "SITEMAP_TIMEOUT" : problemOf(reason), url);
    } finally {
      memory.free();
    }
  }

  /** Undefined if there is none. One that breaks off, or takes too long, is read as far as it came. */
  async #fetch(url: string, memory: MemoryShare): Promise<SitemapFile | "busy" | undefined> {
    const { outbound, userAgent } = this.#deps;
    const { timeLeft, signal } = this.#reading;
    const reply = await outbound.fetch({
      url,
      headers: new Headers({
        accept: "application/xml,text/xml;q=0.9,*/*;q=0.8",
        "accept-encoding": "gzip, deflate, br, zstd",
        "user-agent": userAgent,
      }),
      // More than is kept: one that is too long is cut, not refused.
      bytesMax: 2 * sitemapBytesMax,
      timeoutMs: Math.max(Math.min(timeLeft(), FILE_MS_MAX), 1),
      redirectsMax: REDIRECTS_MAX,
      mayLoseEncryption: true,
      signal,
    });
    if (reply.status !== 200) {
      reply.body.cancel();
      const isBusy = reply.status === 429 || reply.status === 503;
      const askedMs = isBusy
        ? retryAfterMs(reply.headers.get("retry-after"), this.#deps.environment.clock())
        : undefined;
      if (askedMs === undefined) return undefined;
      this.retryAfterMs = Math.max(this.retryAfterMs ?? 0, askedMs);
      return "busy";
    }
    const { bytes, isTruncated, failure } = await firstBytes(reply.body, sitemapBytesMax, (more) => memory.add(more));
    if (signal.aborted) throw signal.reason;
    if (isTruncated) this.#note("SITEMAP_TRUNCATED", url);
    if (failure !== undefined) this.#note(problemOf(failure.cause), url);
    const contentType = reply.headers.get("content-type") ?? undefined;
    return { bytes, request: { url: reply.url, contentType, isCut: isTruncated || failure !== undefined } };
  }

  /** The time that is left bounds this as well, however long other documents keep the pool busy. */
  async #read({ bytes, request }: SitemapFile): Promise<Sitemap> {
    const { owner, signal, timeLeft } = this.#reading;
    const timeoutMs = Math.max(timeLeft(), READ_MS_MIN);
    const options = { owner, signal: abortSignalOf(signal), timeoutMs };
    const sitemap = await this.#deps.pages.readSitemap(bytes, request, options);
    return request.isCut ? { ...sitemap, isCut: false } : sitemap;
  }

  async #take({ pages, sitemaps, isCut }: Sitemap, url: string): Promise<void> {
    if (isCut) this.#note("SITEMAP_TRUNCATED", url);
    for (const further of sitemaps) if (!this.#add(further.url)) this.#note("SITEMAP_TRUNCATED", url);
    for (const page of pages) {
      if (this.#slices.isOver) await this.#slices.next();
      if (this.#isOver) return;
      this.#addresses += 1;
      this.#characters += page.url.length + (page.title?.length ?? 0);
      const isOver = this.#addresses > sitemapAddressesMax || this.#characters > sitemapCharactersMax;
      if (isOver || !this.#reading.onPage(page)) this.#end("SITEMAP_TRUNCATED", url);
    }
  }

  /** Returns false if there is no room for this sitemap. */
  #add(url: string): boolean {
    if (this.#seen.has(url)) return true;
    if (this.#seen.size >= FILES_MAX) return false;
    this.#seen.add(url);
    this.#waiting.push(url);
    return true;
  }

  /** Nothing more is read. */
  #end(problem: SitemapProblem, url: string): void {
    this.#note(problem, url);
    this.#isOver = true;
  }

  #note(problem: SitemapProblem, url: string): void {
    const isGuess = problem === "SITEMAP_UNREADABLE" && url === this.#usual;
    if (!isGuess && !this.left.has(problem)) this.left.set(problem, url);
  }
}

interface SitemapFile {
  bytes: Uint8Array;
  request: SitemapRequest;
}

/** Throws what concerns more than one sitemap. */
function problemOf(reason: unknown): SitemapProblem {
  const isOfSitemap = reason instanceof OutboundError || (reason instanceof PageError && reason.failure !== "busy");
  if (!isOfSitemap) throw reason;
  return reason.failure === "timeout" || reason.failure === "late" ? "SITEMAP_TIMEOUT" : "SITEMAP_UNREADABLE";
}
