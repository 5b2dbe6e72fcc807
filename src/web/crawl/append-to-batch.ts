/**
 * Further addresses of a batch that was started before. They are read with its options and paid by its token. A batch that is complete
 * runs again.
 */
import type { Principal } from "../../auth/index.ts";
import { GatewayError, isTimedUuid } from "../../core/index.ts";
import type { CrawlDependencies } from "./crawl-dependencies.ts";
import { planOf } from "./crawl-request.ts";
import type { PlannedCrawl } from "./plan-crawl.ts";
import type { Crawl, NewPage } from "./store.ts";

/** Addresses of a batch, with those that were added later. */
const BATCH_PAGES_MAX = 100_000;

/** How often a batch is opened again that has ended before the addresses were there. */
const TRIES_MAX = 3;

type Dependencies = Pick<CrawlDependencies, "crawls" | "environment" | "bounds">;

/** The batch that a request names. Throws 404 for one that the caller does not have, and 422 for one that can have no more addresses. */
export async function namedBatch(
  { crawls, environment }: Dependencies,
  principal: Principal,
  { id, concurrencyMax }: NonNullable<PlannedCrawl["append"]>,
  { plan, pages }: PlannedCrawl,
): Promise<Crawl> {
  const batch = isTimedUuid(id) ? await crawls.find(id) : undefined;
  const isOwn = batch?.owner === principal.user && batch.kind === "batch" && batch.expiresAt > environment.clock();
  if (!isOwn)
    throw new GatewayError("crawl_not_found", "appendToId: there is no such batch of yours, or it has expired.");
  if (batch.caller["tokenId"] !== principal.tokenId)
    throw refused("another token has started this batch, and pays for it");
  const stored = planOf(batch);
  const differs =
    (Object.keys(plain(plan.scrape)).length > 0 && !Bun.deepEquals(plain(plan.scrape), plain(stored.scrape))) ||
    (plan.webhook !== undefined && !Bun.deepEquals(plain(plan.webhook), plain(stored.webhook))) ||
    (concurrencyMax !== undefined && concurrencyMax !== batch.concurrencyMax);
  if (differs) throw refused("the options of the batch hold for these addresses too; leave out others");
  if (batch.discovered + pages.length > BATCH_PAGES_MAX) throw tooMany();
  const isOver = batch.state === "completed" && stored.webhook !== undefined;
  if (isOver) throw refused("the batch is complete, and its webhook has been told so; start another one");
  if (batch.state === "failed" || batch.state === "cancelled") throw refused("the batch has ended; start another one");
  return batch;
}

/** May be repeated: no address is there twice. `lifeMs` is how long the batch may take from now on. */
export async function appendPages(
  { crawls, environment, bounds }: Dependencies,
  id: string,
  { pages, lifeMs }: { pages: readonly NewPage[]; lifeMs: number },
): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const at = environment.clock();
    const room = { pagesMax: BATCH_PAGES_MAX, activeMax: bounds.crawlsPerUserMax, expiresAt: at + lifeMs };
    if (!(await crawls.extend(id, room))) throw tooManyRunning(bounds.crawlsPerUserMax);
    const { added, isFull } = await crawls.add(id, pages, at, BATCH_PAGES_MAX);
    if (isFull) throw tooMany();
    if (added > 0 || (await crawls.find(id))?.state === "scraping") return;
  }
}

/** The refusal of another crawl of a user. */
export function tooManyRunning(crawlsMax: number): GatewayError {
  const message = `${crawlsMax} crawls and batches of yours are running: wait for one of them to end.`;
  return new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: 10 });
}

function tooMany(): GatewayError {
  return refused(`a batch has at most ${BATCH_PAGES_MAX} addresses`);
}

function refused(message: string): GatewayError {
  return new GatewayError("validation_failed", `appendToId: ${message}.`, { param: "appendToId" });
}

/** As it is stored: without members that ask for nothing. */
function plain(value: unknown): object {
  const text = JSON.stringify(value ?? {}, (_name, member: unknown) => member ?? undefined);
  return JSON.parse(text) as object;
}
