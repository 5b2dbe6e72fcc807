/** Reads the sitemaps of a site; indexes lead to further ones. Requests, bytes, addresses and time are bounded. */
import { createGunzip } from "node:zlib";
import type { CallSignal, ReplyBody } from "../../core/index.ts";
import type { Outbound } from "../../outbound/index.ts";
import { SitemapScanner } from "./sitemap-scanner.ts";

/** The most that the protocol permits for one sitemap, decoded. */
const BYTES_MAX = 50 * 1024 * 1024;

/** Sitemaps of one site that are read. */
const SITEMAPS_MAX = 200;

/** The time for one of them. */
const TIMEOUT_MS = 20_000;

const REDIRECTS_MAX = 5;

export interface SitemapDependencies {
  outbound: Pick<Outbound, "fetch">;
  userAgent: string;
}

export interface SitemapReading {
  /** The sitemaps to begin with. */
  sitemaps: readonly string[];
  /** Takes an address; returns whether more are wanted. */
  onAddress: (address: string) => boolean;
  signal: CallSignal;
  /** Milliseconds that are left. */
  timeLeft: () => number;
}

/** What could not be read whole. */
export interface SitemapResult {
  /** Whether there was more than was wanted, or than may be read. */
  isTruncated: boolean;
  isLate: boolean;
}

/** Reads one sitemap after the other. One that cannot be read is skipped. Rejects with the reason of the signal only. */
export async function readSitemaps(deps: SitemapDependencies, reading: SitemapReading): Promise<SitemapResult> {
  const waiting = [...reading.sitemaps].slice(0, SITEMAPS_MAX);
  const seen = new Set(waiting);
  let isTruncated = reading.sitemaps.length > SITEMAPS_MAX;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (reading.timeLeft() <= 0) return { isTruncated, isLate: true };
    const one = await readOne(deps, reading, next);
    for (const further of one.sitemaps) {
      if (seen.has(further)) continue;
      if (seen.size >= SITEMAPS_MAX) isTruncated = true;
      else waiting.push(further);
      seen.add(further);
    }
    if (one.isTruncated) isTruncated = true;
    if (one.isEnough) return { isTruncated: true, isLate: false };
  }
  return { isTruncated, isLate: false };
}

interface OneSitemap {
  sitemaps: string[];
  isTruncated: boolean;
  isEnough: boolean;
}

async function readOne(deps: SitemapDependencies, reading: SitemapReading, url: string): Promise<OneSitemap> {
  const { signal, onAddress, timeLeft } = reading;
  const result: OneSitemap = { sitemaps: [], isTruncated: false, isEnough: false };
  const scanner = new SitemapScanner();
  let base = url;
  const take = (found: readonly string[]): boolean => {
    for (const text of found) {
      if (!URL.canParse(text, base)) continue;
      const address = new URL(text, base).href;
      if (scanner.isIndex) result.sitemaps.push(address);
      else if (!onAddress(address)) result.isEnough = true;
      if (result.isEnough || result.sitemaps.length > SITEMAPS_MAX) return false;
    }
    return true;
  };
  try {
    const reply = await deps.outbound.fetch({
      url,
      headers: new Headers({ "user-agent": deps.userAgent, "accept-encoding": "gzip, deflate, br" }),
      bytesMax: BYTES_MAX,
      timeoutMs: Math.max(1, Math.min(TIMEOUT_MS, timeLeft())),
      redirectsMax: REDIRECTS_MAX,
      mayLoseEncryption: true,
      signal,
    });
    base = reply.url;
    if (reply.status === 200) result.isTruncated = !(await flow(reply.body, scanner, take));
    else reply.body.cancel();
  } catch (reason) {
    if (signal.aborted) throw reason;
    result.isTruncated = true;
  }
  return result;
}

/** Passes the body through the scanner. Resolves with whether it was read to its end. */
function flow(body: ReplyBody, scanner: SitemapScanner, take: (found: readonly string[]) => boolean): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const decoder = new TextDecoder();
  let gunzip: ReturnType<typeof createGunzip> | undefined;
  let bytesRead = 0;
  let isOver = false;
  const stop = (isWhole: boolean): void => {
    if (isOver) return;
    isOver = true;
    if (!isWhole) body.cancel();
    gunzip?.destroy();
    resolve(isWhole);
  };
  const read = (bytes: Uint8Array): void => {
    bytesRead += bytes.byteLength;
    if (isOver) return;
    if (!take(scanner.scan(decoder.decode(bytes, { stream: true }))) || bytesRead > BYTES_MAX) stop(false);
  };
  const finish = (): void => {
    if (!isOver) take(scanner.end());
    stop(true);
  };
  let isFirst = true;
  body.flowTo({
    onBytes(bytes) {
      // A file.xml.gz is compressed in itself, whatever its transfer was.
      if (isFirst && bytes[0] === 0x1f && bytes[1] === 0x8b) {
        gunzip = createGunzip();
        gunzip.on("data", read).on("end", finish).on("error", reject);
      }
      isFirst = false;
      if (gunzip === undefined) read(bytes);
      else if (!isOver && !gunzip.write(bytes)) {
        body.pause();
        gunzip.once("drain", () => body.resume());
      }
    },
    onEnd: () => (gunzip === undefined ? finish() : void gunzip.end()),
    onFailure: reject,
  });
  return promise;
}
