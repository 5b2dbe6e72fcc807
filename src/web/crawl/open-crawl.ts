/** A crawl as its pages need it: parsed once in each process. */
import type { Principal } from "../../auth/index.ts";
import type { WorkNames } from "../../charges/index.ts";
import { type CrawlPlan, planOf } from "./crawl-request.ts";
import { CrawlScope } from "./scope.ts";
import type { Crawl, CrawlStore, LeasedPage } from "./store.ts";

/** Crawls that a process remembers. */
const CRAWLS_MAX = 200;

/** Keys of one crawl that a process knows to be in the frontier: links of a site repeat on each of its pages. */
const KEYS_MAX = 50_000;

export interface OpenCrawl {
  id: string;
  kind: Crawl["kind"];
  owner: string;
  pagesMax: number;
  principal: Principal;
  /** Given by its caller; its pages have the same. */
  names: WorkNames;
  plan: CrawlPlan;
  /** Undefined for a batch. */
  scope: CrawlScope | undefined;
  /** Addresses that need not be added again. */
  known: Set<string>;
  /** Pages that this process runs, and those of them that hold credits. */
  running: number;
  holding: number;
  /** Pages whose links took too long to compare with the patterns. */
  slowPages: number;
  /** Attempts at pages, by their numbers, whose server had too many requests. */
  busyTries: Map<number, number>;
  /** Attempts at sitemaps for which the gateway was too busy. */
  sitemapTries: number;
  /** Holds that were refused since the last one that was not. */
  refusals: number;
  /** When its token was found to be valid, by the ticker's clock. */
  tokenReadAt: number;
}

export class OpenCrawls {
  readonly #store: CrawlStore;
  readonly #crawls = new Map<string, OpenCrawl>();

  constructor(store: CrawlStore) {
    this.#store = store;
  }

  /** The crawl of this page; undefined for one that is gone. */
  async get(page: LeasedPage): Promise<OpenCrawl | undefined> {
    const id = page.crawlId;
    const known = this.#crawls.get(id);
    if (known !== undefined) {
      if (isOutOfScope(known, page)) await this.#follow(known);
      return known;
    }
    const stored = await this.#store.find(id);
    if (stored === undefined) return undefined;
    const opened = openCrawl(stored);
    // Another page of the crawl may have opened it meanwhile: there is one count of what runs.
    const meanwhile = this.#crawls.get(id);
    if (meanwhile !== undefined) return meanwhile;
    if (this.#crawls.size >= CRAWLS_MAX) this.forget(this.#crawls.keys().next().value ?? "");
    this.#crawls.set(id, opened);
    return opened;
  }

  /** Another process may have found that the start has moved. */
  async #follow(crawl: OpenCrawl): Promise<void> {
    const stored = await this.#store.find(crawl.id);
    const plan = stored && planOf(stored);
    if (plan !== undefined && plan.url !== crawl.plan.url) moveTo(crawl, plan);
  }

  forget(id: string): void {
    this.#crawls.delete(id);
  }
}

function openCrawl(crawl: Crawl): OpenCrawl {
  const { id, kind, owner, pagesMax, caller } = crawl;
  const plan = planOf(crawl);
  // Written when the crawl was created.
  const { names = {}, ...principal } = caller as unknown as Principal & { names?: WorkNames };
  const scope = plan.discovery && new CrawlScope(plan.url, plan.discovery);
  const counts = {
    busyTries: new Map<number, number>(),
    running: 0,
    holding: 0,
    slowPages: 0,
    sitemapTries: 0,
    refusals: 0,
    tokenReadAt: -Infinity,
  };
  return { id, kind, owner, pagesMax, principal, names, plan, scope, known: new Set(), ...counts };
}

/** Whether the page was not found within the scope that this process knows. */
function isOutOfScope({ scope }: OpenCrawl, { kind, number, url }: LeasedPage): boolean {
  if (scope === undefined || number === 0) return false;
  return kind === "sitemap" ? !scope.isOwnHost(new URL(url)) : !scope.isWithin(new URL(url));
}

/** Continues the crawl with another plan: its start has moved. */
export function moveTo(crawl: OpenCrawl, plan: CrawlPlan): void {
  crawl.scope = plan.discovery && new CrawlScope(plan.url, plan.discovery);
  crawl.plan = plan;
}

/** Whether the address may be new; remembers it. */
export function isUnknown({ known }: OpenCrawl, key: string): boolean {
  if (known.has(key)) return false;
  if (known.size >= KEYS_MAX) known.clear();
  known.add(key);
  return true;
}
