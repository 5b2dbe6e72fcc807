/** The comparison of addresses with a crawl's patterns, in a process of the page pool: it may take much of a processor. */
import { setTimeout as wait } from "node:timers/promises";
import { abortSignalOf, type CallSignal, toGatewayError, Slices } from "../../core/index.ts";
import { PageError, type PagePool } from "../../pages/index.ts";
import { pageFailure } from "../failures.ts";
import type { OpenCrawl } from "./open-crawl.ts";

/** Attempts while no process is free, and the wait between two: a minute of them. */
const TRIES_MAX = 30;
const BUSY_WAIT_MS = 2_000;

export interface ComparisonDependencies {
  pages: Pick<PagePool, "matchPatterns">;
}

interface ComparisonRun {
  crawl: Pick<OpenCrawl, "scope" | "owner">;
  signal: CallSignal;
}

interface Comparison {
  /** Of one of the addresses. One that was not compared is not wanted. */
  isWanted: (url: URL) => boolean;
  /** Whether all were compared: the others would have taken too long. */
  isWhole: boolean;
}

/**
 * Whether the patterns of the crawl want these addresses.
 * @throws the reason of `signal`; an error of the page pool if it stays too busy.
 */
export async function compareAddresses(
  { pages }: ComparisonDependencies,
  { crawl: { scope, owner }, signal }: ComparisonRun,
  urls: readonly URL[],
): Promise<Comparison> {
  const patterns = scope?.patterns;
  if (scope === undefined || patterns === undefined) return { isWanted: () => true, isWhole: true };
  const compared = new Set<string>();
  const slices = new Slices();
  for (const url of urls) {
    if (slices.isOver) await slices.next();
    compared.add(scope.comparedPart(url));
  }
  const texts = [...compared];
  if (texts.length === 0) return { isWanted: () => false, isWhole: true };
  const until = abortSignalOf(signal);
  const verdicts = await onceFree(() => pages.matchPatterns(texts, patterns, { owner, signal: until }), until);
  const wanted = new Set(texts.filter((_, index) => verdicts[index] === true));
  return { isWanted: (url) => wanted.has(scope.comparedPart(url)), isWhole: verdicts.length === texts.length };
}

/** A comparison that ends its process is one that takes too long. */
async function onceFree(compare: () => Promise<boolean[]>, signal: AbortSignal): Promise<boolean[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await compare();
    } catch (reason) {
      signal.throwIfAborted();
      const { status } = toGatewayError(pageFailure(reason));
      const isBusy = status === 503 || status === 429;
      if (reason instanceof PageError && !isBusy) return [];
      if (!isBusy || tries >= TRIES_MAX) throw reason;
      await wait(BUSY_WAIT_MS, undefined, { signal });
    }
  }
}
