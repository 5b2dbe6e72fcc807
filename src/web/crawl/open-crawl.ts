/** A crawl as its pages need it: parsed once in each process. */
import type { Principal } from "../../auth/index.ts";
import type { CrawlPlan } from "./crawl-request.ts";
import { CrawlScope } from "./scope.ts";
import type { Crawl, CrawlStore } from "./store.ts";

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
  plan: CrawlPlan;
  /** Undefined for a batch. */
  scope: CrawlScope | undefined;
  /** Addresses that need not be added again. */
  known: Set<string>;
  /** Pages that this process runs, and those of them that hold credits. */
  running: number;
  holding: number;
  /** Holds that were refused since the last one that was not. */
  refusals: number;
}

export class OpenCrawls {
  readonly #store: CrawlStore;
  readonly #crawls = new Map<string, OpenCrawl>();

  constructor(store: CrawlStore) {
    this.#store = store;
  }

  /** Undefined for a crawl that is gone. */
  async get(id: string): Promise<OpenCrawl | undefined> {
    const known = this.#crawls.get(id);
    if (known !== undefined) return known;
    const stored = await this.#store.find(id);
    if (stored === undefined) return undefined;
    const opened = await openCrawl(stored);
    // Another page of the crawl may have opened it meanwhile: there is one count of what runs.
    const meanwhile = this.#crawls.get(id);
    if (meanwhile !== undefined) return meanwhile;
    if (this.#crawls.size >= CRAWLS_MAX) this.forget(this.#crawls.keys().next().value ?? "");
    this.#crawls.set(id, opened);
    return opened;
  }

  forget(id: string): void {
    this.#crawls.delete(id);
  }
}

async function openCrawl({ id, kind, owner, pagesMax, caller, request }: Crawl): Promise<OpenCrawl> {
  // Both were written when the crawl was created.
  const plan = request as unknown as CrawlPlan;
  const principal = caller as unknown as Principal;
  const scope = plan.discovery && (await CrawlScope.of(plan.url, plan.discovery));
  return { id, kind, owner, pagesMax, principal, plan, scope, known: new Set(), running: 0, holding: 0, refusals: 0 };
}

/** Whether the address may be new; remembers it. */
export function isUnknown({ known }: OpenCrawl, key: string): boolean {
  if (known.has(key)) return false;
  if (known.size >= KEYS_MAX) known.clear();
  known.add(key);
  return true;
}
