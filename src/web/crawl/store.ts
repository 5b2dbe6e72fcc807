/**
 * The durable state of crawls, on either engine. The states of a page:
 *
 *   add ──▶ waiting ──take──▶ running ──fetched──▶ fetched ──end──▶ done
 *              ▲                 ├──end──▶ failed | blocked | skipped
 *              ├──giveBack───────┤
 *              └──lease runs out─┘   (a fetched page whose lease runs out is leased to another process, which ends it)
 *
 * A page's result is stored before it is charged, and visible once it is: whichever process dies in between, the next one
 * charges the same work, which the ledger accepts once. Each write names its lease, so that a process which was paused past
 * the end of its lease changes nothing.
 */
import type { JsonObject, Nano } from "../../core/index.ts";

export type CrawlKind = "crawl" | "batch" | "extract";
export type CrawlState = "scraping" | "completed" | "failed" | "cancelled";

export interface NewCrawl {
  id: string;
  kind: CrawlKind;
  /** The user. */
  owner: string;
  /** The payer, and the request: plain data for any node. */
  caller: JsonObject;
  request: JsonObject;
  /** The most pages with a result. */
  pagesMax: number;
  /** Pages that run at the same time, on all nodes. */
  concurrencyMax: number;
  /** The pause between two pages of a host. */
  delayMs: number;
  createdAt: number;
  /** When the crawl is deleted. */
  expiresAt: number;
  /** What it has cost before its first page. */
  credits?: Nano;
}

/** A failure in the words of the API. */
export interface CrawlFailure {
  code: string;
  message: string;
}

export interface Crawl extends NewCrawl {
  state: CrawlState;
  /** Why it ended early; undefined if it did not. */
  failure: CrawlFailure | undefined;
  /** Addresses that were added, whatever became of them. */
  discovered: number;
  completed: number;
  failed: number;
  /** Addresses that robots.txt forbids, and those that needed no request or repeated another page. */
  skipped: number;
  credits: Nano;
  /** Bytes of the stored results. */
  bytes: number;
  endedAt: number | undefined;
}

/** A crawl as an operator sees it. */
export type ListedCrawl = Pick<
  Crawl,
  | "id"
  | "kind"
  | "owner"
  | "state"
  | "discovered"
  | "completed"
  | "failed"
  | "skipped"
  | "credits"
  | "bytes"
  | "createdAt"
> &
  Pick<Crawl, "endedAt" | "expiresAt">;

export interface CrawlPage {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
}

/**
 * The kinds of addresses: a page, and a host whose sitemaps list pages; of an extraction also a site whose pages are read, and its
 * answer, which is made when all others have ended.
 */
export type PageKind = "page" | "sitemap" | "site" | "answer";

export interface NewPage {
  kind: PageKind;
  /** Equal for addresses of the same page. */
  key: string;
  url: string;
  host: string;
  /** Links from the start. */
  depth: number;
}

export interface PageId {
  crawlId: string;
  number: number;
}

export interface LeasedPage extends PageId, Omit<NewPage, "key"> {
  /** Leases of the page, the current one included. */
  attempts: number;
  token: string;
  /** The parked work of a page that was fetched and has to be charged. */
  work: JsonObject | undefined;
}

/** The most that all nodes together ask of one host. */
export interface Politeness {
  connectionsMax: number;
  /** The pause between the starts of two pages; zero for no bound. */
  intervalMs: number;
}

export interface TakeRequest {
  lease: { token: string; until: number };
  at: number;
  pagesMax: number;
  /**
   * The share that the crawls of one owner get of the pages which other owners leave to the process, so that hosts which keep
   * one user's pages waiting hold up nobody else. Without it nothing is left to others.
   */
  ownerShare?: number;
  politeness: Politeness;
}

export interface FetchedPage {
  content: Uint8Array;
  work: JsonObject;
  /** Of its text; undefined if it may repeat another page. */
  digest: string | undefined;
}

/** `duplicate`: another page of the crawl has this digest; nothing was stored. `lost`: so is the lease, or the crawl ended. */
export type Storing = "stored" | "duplicate" | "lost";

/** `credits` are what it has cost: a page without a result what a model was asked for it, or its caller's own failure. */
export type PageEnd =
  | { state: "done"; credits: Nano }
  | { state: "failed" | "blocked"; failure: CrawlFailure; credits?: Nano }
  | { state: "skipped"; credits?: Nano };

/** A page that has no result. */
export interface PageFailure extends CrawlFailure {
  number: number;
  url: string;
  isBlocked: boolean;
  at: number;
}

/** Something that a crawl left out, with the first address that it concerns. */
export interface CrawlNote extends CrawlFailure {
  url: string;
  /** How often it happened. */
  count: number;
  at: number;
}

export interface StoredResult {
  /** From 0, in the order in which the pages ended. */
  position: number;
  /** Of the page. */
  number: number;
  content: Uint8Array;
}

export interface ResultRange {
  from: number;
  countMax: number;
  /** The first result of a range is part of it whatever its size. */
  bytesMax: number;
}

/** Each write is one durable commit; one under a lease resolves with whether that was valid. */
export interface CrawlStore {
  /** Resolves with false, and stores nothing, if the owner has `activeMax` crawls that run, or the crawl is there already. */
  insert(crawl: NewCrawl, activeMax: number): Promise<boolean>;
  find(id: string): Promise<Crawl | undefined>;
  /** Lets a batch that runs or is complete have more pages: it runs again, if its owner has fewer than `activeMax` that run. */
  extend(id: string, room: Pick<NewCrawl, "pagesMax" | "expiresAt"> & { activeMax: number }): Promise<boolean>;
  /** The crawls of all users, by id, without their requests. */
  list(page: CrawlPage): Promise<ListedCrawl[]>;
  /** The owner's crawls that run, the newest first. */
  active(owner: string): Promise<Crawl[]>;
  /** When a crawl of the owner was complete last, among those that are kept. */
  lastCompleted(owner: string): Promise<number | undefined>;
  /**
   * Adds addresses that the crawl does not have, up to `discoveredMax` in all. Resolves with how many were new, and
   * whether some had no room.
   */
  add(crawlId: string, pages: readonly NewPage[], at: number, discoveredMax: number): Promise<Added>;
  /**
   * Leases pages that may be fetched now, by politeness and by the bounds of their crawls, and fetched pages whose process
   * died. Does not wait for other processes.
   */
  take(request: TakeRequest): Promise<LeasedPage[]>;
  /** Prolongs all leases with this token. Resolves with their crawls that still run. */
  renew(token: string, until: number): Promise<string[]>;
  fetched(page: LeasedPage, fetched: FetchedPage): Promise<Storing>;
  /** Whether another page of the crawl has this digest. */
  repeats(page: LeasedPage, digest: string): Promise<boolean>;
  end(page: LeasedPage, end: PageEnd, at: number): Promise<boolean>;
  /** Returns a page that could not be fetched now; it and its host's pages of this crawl wait until then. */
  giveBack(page: LeasedPage, readyAt: number): Promise<boolean>;
  /** Sets the pause between two pages of a host that its robots.txt demands. */
  pace(host: string, intervalMs: number, at: number): Promise<void>;
  /** No page of this host is taken before this moment. */
  rest(host: string, until: number, politeness: Pick<Politeness, "intervalMs">): Promise<void>;
  /** Pages of the crawl that are under way on all nodes. */
  leased(crawlId: string): Promise<number>;
  note(crawlId: string, note: Omit<CrawlNote, "count">): Promise<void>;
  /** Crawls that run and have nothing left to do; not those whose first pages have yet to be added, unless created before `at`. */
  exhausted(at: number): Promise<Crawl[]>;
  /** Crawls that run and would be deleted by then. */
  overdue(at: number): Promise<Crawl[]>;
  /** Replaces the stored request of a crawl that runs. */
  rewrite(id: string, request: JsonObject): Promise<void>;
  /** Ends a crawl that runs. Resolves with whether it ran. */
  finish(id: string, finish: CrawlFinish): Promise<boolean>;
  /** The result of a page, whether or not it is visible. */
  content(page: PageId): Promise<Uint8Array | undefined>;
  results(id: string, range: ResultRange): Promise<StoredResult[]>;
  failures(id: string, countMax: number): Promise<PageFailure[]>;
  /** The page that failed as the first one (0), the second … */
  failedPage(id: string, index: number): Promise<PageFailure | undefined>;
  notes(id: string): Promise<CrawlNote[]>;
  /** Crawls that run while the bytes of all such of their owner are beyond the bound: the largest of them. */
  oversized(bytesMax: number): Promise<Crawl[]>;
  /** Lets the oldest ended crawls of the same owner expire, except this one, until the bytes of the others are within the bound. */
  makeRoom(kept: Pick<Crawl, "id" | "owner">, bytesMax: number, at: number): Promise<void>;
  /** Deletes expired crawls, a bounded number of rows at a time. Resolves with whether there may be more. */
  deleteExpired(at: number): Promise<boolean>;
}

export interface Added {
  added: number;
  isFull: boolean;
}

export interface CrawlFinish {
  state: Exclude<CrawlState, "scraping">;
  failure?: CrawlFailure | undefined;
  at: number;
  expiresAt: number;
}
