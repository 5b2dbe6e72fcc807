/**
 * The start of a crawl or a batch. One with a retry key is work without a price, whose answer is stored before the job is
 * and lives as long as the job may:
 *
 *   hold and answer, in one commit ──▶ the crawl's row ──▶ its first addresses ──▶ the hold is released
 *
 * A repeated request finds the answer. If its crawl is not there and the hold is open, the first process is about to create
 * it, or has died: the request creates it under the same id. If the hold has ended, the crawl has expired, or never came to be:
 * the key is new.
 */
import type { Principal } from "../../auth/index.ts";
import { forgetAnswer, isOpen, openAnswered, replay, Work, type WorkOrder } from "../../charges/index.ts";
import { GatewayError, type JsonObject, NO_MARKUP, parseObject } from "../../core/index.ts";
import { webPrice } from "../../pricing/index.ts";
import type { CrawlDependencies } from "./crawl-dependencies.ts";
import type { CrawlPlan } from "./crawl-request.ts";
import type { NewCrawl, NewPage } from "./store.ts";

export interface CrawlStart {
  requestId: string;
  principal: Principal;
  /** Of a request that has a retry key. */
  retry: WorkOrder["retry"];
  crawl: NewCrawl;
  plan: CrawlPlan;
  pages: readonly NewPage[];
  answer: JsonObject;
}

type StartDependencies = Pick<
  CrawlDependencies,
  "crawls" | "environment" | "messages" | "bounds" | "work" | "engineName"
> & {
  wake: () => void;
};

const headers: [string, string][] = [["content-type", "application/json"]];
const free = webPrice({}, NO_MARKUP);

/** Throws 429 if too many crawls of the user are running, and 409 for a retry key of another request. */
export async function startCrawl(deps: StartDependencies, start: CrawlStart): Promise<Response> {
  const { retry, crawl, answer } = start;
  const body = Buffer.from(JSON.stringify(answer));
  if (retry === undefined) {
    await create(deps, start);
    return new Response(body, { headers });
  }
  const order = orderOf(deps, start);
  const opened = await openAnswered(deps.work, order, { status: 200, headers, body }, crawl.expiresAt);
  if (!(opened instanceof Work)) {
    const { firstId } = opened;
    const replayed = replay(opened.answer, firstId);
    const isThere = await complete(deps, start, { firstId, answer: replayed.body });
    if (isThere) return new Response(replayed.body, { headers: replayed.headers });
    await forgetAnswer(deps.work, order, firstId);
    return startCrawl(deps, start);
  }
  try {
    await create(deps, start);
    return new Response(body, { headers });
  } finally {
    await opened.discard();
  }
}

function orderOf(
  { engineName: model, environment }: StartDependencies,
  { requestId, principal, retry }: CrawlStart,
): WorkOrder {
  return {
    id: requestId,
    // The limits of a minute are for calls that cost something.
    principal: { ...principal, rates: undefined },
    operation: "crawl",
    dialect: undefined,
    source: { provider: "web", model, modelId: `web/${model}` },
    price: free,
    bound: { inputTokens: 0, outputTokens: 0, choices: 1 },
    streamed: false,
    retry,
    at: environment.clock(),
  };
}

/** Creates what the first start has left to do. Resolves with whether its crawl is there. */
async function complete(
  deps: StartDependencies,
  start: CrawlStart,
  first: { firstId: string; answer: Uint8Array },
): Promise<boolean> {
  const id = String(parseObject(Buffer.from(first.answer).toString())?.["id"]);
  const stored = await deps.crawls.find(id);
  const isThere = stored !== undefined && stored.expiresAt > deps.environment.clock();
  if (!isThere && !(await isOpen(deps.work, first.firstId))) return false;
  const isComplete = isThere && (stored.discovered > 0 || stored.state !== "scraping");
  if (!isComplete) await create(deps, { ...start, crawl: { ...start.crawl, id } });
  return true;
}

/** May be repeated: neither the crawl, nor its message, nor its addresses are there twice. */
async function create(
  { crawls, environment, messages, bounds, wake }: StartDependencies,
  start: CrawlStart,
): Promise<void> {
  const { crawl, plan, pages } = start;
  const isNew = await crawls.insert(crawl, bounds.crawlsPerUserMax);
  if (!isNew && (await crawls.find(crawl.id)) === undefined) {
    const message = `${bounds.crawlsPerUserMax} crawls and batches of yours are running: wait for one of them to end.`;
    throw new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: 10 });
  }
  await messages.started(crawl, plan);
  await crawls.add(crawl.id, pages, environment.clock(), Math.max(pages.length, 1));
  wake();
}
