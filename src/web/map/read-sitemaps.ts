/**
 * The addresses in a site's sitemaps (sitemaps.org): those that robots.txt names, else /sitemap.xml; indexes lead to further
 * ones. Whatever a site answers, the number of requests, their bytes and the time are bounded.
 */
import robotsParser from "robots-parser";
import type { NativeDependencies } from "../engines/native/native-dependencies.ts";
import { fetchPage } from "../engines/native/fetch-page.ts";
import { abortSignalOf, type CallSignal } from "../../core/index.ts";
import type { MemoryShare } from "../../streaming/index.ts";
import type { AddressSet } from "./address-set.ts";

/** Google reads as much of a robots.txt. */
const ROBOTS_BYTES_MAX = 512_000;

/** The most that the protocol permits for one sitemap. */
const SITEMAP_BYTES_MAX = 50 * 1024 * 1024;

/** Sitemaps of one site that are read. */
const SITEMAPS_MAX = 200;

const AT_ONCE = 4;

interface SitemapReading {
  deps: NativeDependencies;
  /** The site's own address. */
  origin: string;
  addresses: AddressSet;
  signal: CallSignal;
  /** Milliseconds that are left, at least one. */
  timeLeft: () => number;
  memory: MemoryShare;
}

/** Adds the addresses of the sitemaps. A sitemap that cannot be read is skipped. */
export async function readSitemaps(reading: SitemapReading): Promise<void> {
  const named = await sitemapsInRobots(reading);
  const waiting = named.length > 0 ? named : [new URL("/sitemap.xml", reading.origin).href];
  const seen = new Set(waiting);
  const isOver = (): boolean => reading.addresses.isFull || reading.signal.aborted || reading.timeLeft() <= 1;
  const read = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !isOver(); next = waiting.shift()) {
      for (const further of await readOne(reading, next)) {
        if (seen.size >= SITEMAPS_MAX || seen.has(further)) continue;
        seen.add(further);
        waiting.push(further);
      }
    }
  };
  while (waiting.length > 0 && !isOver()) await Promise.all(Array.from({ length: AT_ONCE }, read));
}

async function sitemapsInRobots(reading: SitemapReading): Promise<string[]> {
  const url = new URL("/robots.txt", reading.origin).href;
  const text = await textOf(reading, url);
  if (text === undefined) return [];
  return robotsParser(url, text)
    .getSitemaps()
    .filter((address) => URL.canParse(address, url))
    .map((address) => new URL(address, url).href)
    .slice(0, SITEMAPS_MAX);
}

async function textOf(reading: SitemapReading, url: string): Promise<string | undefined> {
  try {
    const { status, bytes } = await get(reading, url, ROBOTS_BYTES_MAX);
    return status === 200 ? Buffer.from(bytes).toString() : undefined;
  } catch (reason) {
    if (reading.signal.aborted) throw reason;
    return undefined;
  }
}

/** Adds the addresses of one sitemap; resolves with the sitemaps that it names. */
async function readOne(reading: SitemapReading, url: string): Promise<readonly string[]> {
  const { deps, addresses, signal } = reading;
  try {
    const { status, bytes, contentType } = await get(reading, url, SITEMAP_BYTES_MAX);
    if (status !== 200) return [];
    const abort = abortSignalOf(signal);
    const { pages, sitemaps } = await deps.pages.readSitemap(bytes, { url, contentType }, { signal: abort });
    for (const { url: address, title } of pages) addresses.add(address, title === undefined ? {} : { title });
    return sitemaps.map((sitemap) => sitemap.url);
  } catch (reason) {
    if (signal.aborted) throw reason;
    return [];
  }
}

function get({ deps, signal, timeLeft, memory }: SitemapReading, url: string, bytesMax: number) {
  const { outbound, userAgent } = deps;
  const plain = { headers: {}, languages: [], userAgent, memory };
  return fetchPage(outbound, { ...plain, url, timeoutMs: timeLeft(), bytesMax, signal });
}
