/** Whether a page of a crawl may be paid: by its token, its limits and the balance. */
import { refusalOf } from "../../../auth/index.ts";
import { openUnkeyed, type Work, type WorkOrder } from "../../../charges/index.ts";
import { type CallSignal, type GatewayError, requestId, toGatewayError } from "../../../core/index.ts";
import type { CrawlDependencies } from "../crawl-dependencies.ts";
import type { OpenCrawl } from "../open-crawl.ts";
import type { LeasedPage } from "../store.ts";

/** The wait of a page that the token's limits or the storage refuse, unless the refusal contains a time. */
export const REFUSED_WAIT_MS = 2_000;

/** The wait of a page that the balance does not pay, while others of its crawl may still return a part of their holds. */
const UNPAID_WAIT_MS = 500;

/** How long a token that was valid is taken to be. */
const TOKEN_FRESH_MS = 1_000;

/** Refusals in a row after which a crawl ends, though pages on other nodes may still return something. */
const REFUSALS_MAX = 100;

export interface PageRun {
  page: LeasedPage;
  crawl: OpenCrawl;
  signal: CallSignal;
}

/** Opens the page's work; undefined if that is refused: then the page waits, or the crawl ends. */
export async function holdPage(deps: CrawlDependencies, run: PageRun): Promise<Work | undefined> {
  if (await hasLostToken(deps, run)) return undefined;
  try {
    return await openUnkeyed(deps.work, orderOf(deps, run));
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (error.code === "insufficient_credits") await outOfCredits(deps, run, { error, held: 0 });
    else if (error.status === 429 || error.status === 503) {
      const waitMs = (error.retryAfterSeconds ?? 0) * 1_000 || REFUSED_WAIT_MS;
      await deps.crawls.giveBack(run.page, deps.environment.clock() + waitMs);
    } else throw thrown;
    return undefined;
  }
}

function orderOf({ engineName: model, price, environment }: CrawlDependencies, { crawl, page }: PageRun): WorkOrder {
  return {
    id: requestId(environment.clock, environment.randomBytes),
    parent: crawl.id,
    ...crawl.names,
    principal: crawl.principal,
    operation: page.kind === "site" ? "map" : "crawl",
    dialect: undefined,
    source: { provider: "web", model, modelId: `web/${model}` },
    price,
    bound: {
      inputTokens: 0,
      outputTokens: 0,
      choices: 1,
      inputUnits: page.kind === "site" ? { maps: 1 } : { pages: 1 },
    },
    streamed: false,
    at: environment.clock(),
  };
}

/** The crawl ends once none of its other pages can return credits; `held` counts this page's own hold. */
export async function outOfCredits(
  deps: CrawlDependencies,
  { page, crawl }: PageRun,
  { error, held }: { error: GatewayError; held: 0 | 1 },
): Promise<void> {
  const { crawls, environment, messages } = deps;
  crawl.refusals += 1;
  const elsewhere = (await crawls.leased(crawl.id)) - crawl.running;
  if (crawl.holding === held && (elsewhere <= 0 || crawl.refusals > REFUSALS_MAX)) {
    const failure = { code: "INSUFFICIENT_CREDITS", message: error.message };
    await messages.finish(crawl.id, { state: "failed", failure });
  }
  await crawls.giveBack(page, environment.clock() + Math.round(UNPAID_WAIT_MS * (1 + environment.randomFraction())));
}

/** A crawl ends with its token: what is revoked spends nothing more. */
export async function hasLostToken(deps: CrawlDependencies, { page, crawl }: PageRun): Promise<boolean> {
  const { ticker, tokens, environment, messages, crawls } = deps;
  if (ticker.now() - crawl.tokenReadAt < TOKEN_FRESH_MS) return false;
  const token = await tokens.findById(crawl.principal.tokenId);
  const refusal = token && refusalOf(token, environment.clock());
  if (token !== undefined && refusal === undefined) {
    crawl.tokenReadAt = ticker.now();
    return false;
  }
  const { code, message } = refusal ?? { code: "token_revoked", message: "The token does not exist." };
  await messages.finish(crawl.id, { state: "failed", failure: { code: code.toUpperCase(), message } });
  await crawls.giveBack(page, environment.clock());
  return true;
}
