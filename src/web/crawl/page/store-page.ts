/** A page whose result is stored, then charged, then visible: whichever process dies in between, the next one goes on. */
import { charged, type ParkedWork, resumeWork, type Work } from "../../../charges/index.ts";
import type { JsonObject } from "../../../core/index.ts";
import type { ScrapedPage } from "../../engine.ts";
import type { CrawlDependencies } from "../crawl-dependencies.ts";
import type { FetchedPage, PageEnd, Storing } from "../store.ts";
import type { PageRun } from "./hold-page.ts";

/** How long a page keeps its hold until it is charged. Its process does that at once, another one after its lease. */
const PARKED_MS = 24 * 3_600_000;

/** Stored with a fetched page. The process that charges the page, perhaps after a crash, reads it. */
interface StoredWork extends JsonObject {
  parked: ParkedWork;
  usage: ScrapedPage["usage"];
  /** What a model's calls have cost, in nano-credits. */
  spent: string;
}

/** The work of a page that this process or another one has stored. */
export function storedWork(work: JsonObject): StoredWork {
  return work as unknown as StoredWork;
}

interface NewResult extends Pick<FetchedPage, "content" | "digest">, Pick<ScrapedPage, "usage" | "spent"> {
  work: Work;
}

/** Stores a result together with its work; resolves with why it did not, if so. */
export async function storePage(
  { crawls, environment }: CrawlDependencies,
  { page }: PageRun,
  { work, content, digest, usage, spent }: NewResult,
): Promise<StoredWork | Exclude<Storing, "stored">> {
  let stored: StoredWork | undefined;
  try {
    await work.handOver(environment.clock() + PARKED_MS, async (parked) => {
      stored = { parked, usage, spent: String(spent) };
      const outcome = await crawls.fetched(page, { content, work: stored, digest });
      if (outcome !== "stored") throw new NotStored(outcome);
    });
  } catch (reason) {
    if (!(reason instanceof NotStored)) throw reason;
    return reason.outcome;
  }
  return stored ?? "lost";
}

class NotStored extends Error {
  readonly outcome: "duplicate" | "lost";

  constructor(outcome: "duplicate" | "lost") {
    super(outcome);
    this.outcome = outcome;
  }
}

/** Charges a page whose result is stored, and shows it. May be repeated. */
export async function charge(deps: CrawlDependencies, run: PageRun, stored: StoredWork): Promise<void> {
  const work = resumeWork(deps.work, stored.parked);
  const cost = await charged(work, { status: 200, outcome: "complete", observed: { usage: stored.usage } });
  // A site has no result of its own.
  const state = run.page.kind === "site" ? "skipped" : "done";
  await end(deps, run, { state, credits: cost + BigInt(stored.spent) });
}

export async function end({ crawls, environment }: CrawlDependencies, run: PageRun, result: PageEnd): Promise<void> {
  await crawls.end(run.page, result, environment.clock());
}
