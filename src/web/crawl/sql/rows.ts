import { objectOf } from "../../../core/index.ts";
import { column, type SqlRow, tableOf } from "../../../storage/index.ts";
import type {
  Crawl,
  CrawlKind,
  CrawlNote,
  CrawlState,
  LeasedPage,
  ListedCrawl,
  PageFailure,
  PageKind,
  StoredResult,
} from "../store.ts";

const { text, integer, bigInteger, bytes, json, named, oneOf, optional } = column;

/** The numbers of a page's states in `crawl_pages`. */
export const pageStates = { waiting: 0, running: 1, fetched: 2, done: 3, failed: 4, blocked: 5, skipped: 6 } as const;

/** Leases of a page whose process died, after which the page has failed: it may be the one that kills them. */
export const attemptsMax = 3;

/** How long the pages of a host wait at most before they are looked at again, if other pages are in their way. */
export const busyMs = 200;

/** Pages of a host that may start together when it has rested: the rate is kept over this time. */
export const burstMs = 1_000;

/** Hosts of crawls that are looked at for one page to take. */
export const lanesPerPage = 4;

/** Characters of a stored message. */
const MESSAGE_CHARACTERS_MAX = 500;

/** Written by the store itself. */
export const object = json({ parse: (value) => objectOf(value) ?? {} });

const kinds: Record<CrawlKind, true> = { crawl: true, batch: true, extract: true };

/** The kinds of jobs that this version can work on, as a list of SQL: those of a newer one, beside which it runs, are left to that. */
export const knownKinds = Object.keys(kinds)
  .map((kind) => `'${kind}'`)
  .join(", ");

const created = {
  id: text,
  kind: oneOf(kinds),
  owner: text,
  caller: object,
  request: object,
  pagesMax: integer,
  concurrencyMax: integer,
  delayMs: integer,
  createdAt: integer,
  expiresAt: integer,
};

/** The columns of a crawl that is inserted. */
export const newCrawls = tableOf(created);

export const crawls = tableOf({
  ...created,
  state: oneOf<CrawlState>({ scraping: true, completed: true, failed: true, cancelled: true }),
  failureCode: optional(text),
  failure: optional(text),
  discovered: integer,
  completed: integer,
  failed: integer,
  skipped: integer,
  credits: bigInteger,
  bytes: integer,
  endedAt: optional(integer),
});

export const listedCrawls = tableOf<ListedCrawl>({
  id: text,
  kind: oneOf(kinds),
  owner: text,
  state: oneOf<CrawlState>({ scraping: true, completed: true, failed: true, cancelled: true }),
  discovered: integer,
  completed: integer,
  failed: integer,
  skipped: integer,
  credits: bigInteger,
  bytes: integer,
  createdAt: integer,
  endedAt: optional(integer),
  expiresAt: integer,
});

export function toCrawl(row: SqlRow): Crawl {
  const { failureCode: code, failure: message = "", ...crawl } = crawls.read(row);
  return { ...crawl, failure: code === undefined ? undefined : { code, message } };
}

/** The columns of a page that is leased. */
export const pages = tableOf<Omit<LeasedPage, "token">>({
  crawlId: text,
  number: integer,
  kind: oneOf<PageKind>({ page: true, sitemap: true, site: true, answer: true }),
  url: text,
  host: text,
  depth: integer,
  attempts: integer,
  work: optional(object),
});

export const failures = tableOf<Omit<PageFailure, "isBlocked"> & { state: number }>({
  number: integer,
  url: text,
  state: integer,
  code: named("failure_code", text),
  message: named("failure", text),
  at: named("ended_at", integer),
});

export const notes = tableOf<CrawlNote>({
  code: text,
  url: text,
  message: text,
  count: integer,
  at: named("noted_at", integer),
});

export const results = tableOf<StoredResult>({
  position: integer,
  number: named("page_number", integer),
  content: bytes,
});

/** Postgres stores no NUL in a text. */
export function messageText(message: string): string {
  return message.replaceAll("\0", "").slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed();
}
