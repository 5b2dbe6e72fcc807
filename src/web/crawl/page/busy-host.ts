/** Hosts that ask for fewer requests, with 429 or 503: they rest for all crawls, as long as they ask for. */
import type { Environment } from "../../../core/index.ts";
import type { CrawlDependencies } from "../crawl-dependencies.ts";
import type { PageRun } from "./hold-page.ts";
import type { CrawlFailure } from "../store.ts";

const STATUSES: ReadonlySet<number> = new Set([429, 503]);

/** The rest of a host that names no time, and the least one. */
const REST_MS = 10_000;
const REST_MS_MIN = 1_000;

/** How often a page is asked for then. */
const TRIES_MAX = 3;

/** Pages of a crawl that are asked for again, in one process. */
const PAGES_MAX = 1_000;

export const isBusyStatus = (status: number): boolean => STATUSES.has(status);

/** A page that is not asked for again since its host asks for a longer pause. */
export const rateLimited: CrawlFailure = {
  code: "RATE_LIMITED",
  message: "The server asks for a longer pause than web.crawl.retry_after_max.",
};

/** What becomes of a page of a busy host: it is asked for again then, or was too often, or its host asks for too long a pause. */
export type BusyEnd = { askAt: number } | "tried" | "too_long";

interface BusyDependencies extends Pick<CrawlDependencies, "crawls"> {
  environment: Pick<Environment, "clock">;
  bounds: Pick<CrawlDependencies["bounds"], "retryAfterMsMax" | "politeness">;
}

/** Lets a host rest, unless it asks for too long a pause; `askedMs` is undefined if it names none. */
export async function restHost(
  { crawls, environment, bounds }: BusyDependencies,
  run: PageRun,
  askedMs: number | undefined,
  /** That answered: a page that redirects must not stop its own host for everybody. */
  host = run.page.host,
): Promise<BusyEnd> {
  if (askedMs !== undefined && askedMs > bounds.retryAfterMsMax) return "too_long";
  const askAt = environment.clock() + Math.max(askedMs ?? REST_MS, REST_MS_MIN);
  await crawls.rest(host, askAt, bounds.politeness);
  return mayTryAgain(run) ? { askAt } : "tried";
}

/** Counts an attempt. */
function mayTryAgain({ page: { number }, crawl: { busyTries } }: PageRun): boolean {
  const tries = (busyTries.get(number) ?? 0) + 1;
  if (tries >= TRIES_MAX || busyTries.size >= PAGES_MAX) return false;
  busyTries.set(number, tries);
  return true;
}
