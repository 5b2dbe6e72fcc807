import { type JsonObject, parseObject } from "../../../core/index.ts";
import type {
  Crawl,
  CrawlFinish,
  CrawlKind,
  CrawlNote,
  CrawlState,
  LeasedPage,
  NewCrawl,
  PageEnd,
  PageFailure,
  PageKind,
} from "../store.ts";

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

/** Rows deleted at a time. */
export const deletedMax = 5_000;

/** Characters of a stored message. */
const MESSAGE_CHARACTERS_MAX = 500;

/** A row of `crawls` from either engine. */
export interface CrawlRow {
  id: string;
  kind: CrawlKind;
  owner: string;
  caller: string;
  request: string;
  pages_max: bigint;
  concurrency_max: bigint;
  delay_ms: bigint;
  state: CrawlState;
  failure_code: string | null;
  failure: string | null;
  discovered: bigint;
  completed: bigint;
  failed: bigint;
  skipped: bigint;
  credits: bigint;
  bytes: bigint;
  created_at: bigint;
  ended_at: bigint | null;
  expires_at: bigint;
}

export function toCrawl(row: CrawlRow): Crawl {
  const { failure_code: code, failure: message } = row;
  return {
    id: row.id,
    kind: row.kind,
    owner: row.owner,
    caller: jsonOf(row.caller),
    request: jsonOf(row.request),
    pagesMax: Number(row.pages_max),
    concurrencyMax: Number(row.concurrency_max),
    delayMs: Number(row.delay_ms),
    state: row.state,
    failure: code === null ? undefined : { code, message: message ?? "" },
    discovered: Number(row.discovered),
    completed: Number(row.completed),
    failed: Number(row.failed),
    skipped: Number(row.skipped),
    credits: row.credits,
    bytes: Number(row.bytes),
    createdAt: Number(row.created_at),
    endedAt: row.ended_at === null ? undefined : Number(row.ended_at),
    expiresAt: Number(row.expires_at),
  };
}

/** Written by the store itself. */
function jsonOf(text: string): JsonObject {
  return parseObject(text) ?? {};
}

/** The columns of a page that is leased. */
export interface PageRow {
  crawl_id: string;
  number: bigint;
  kind: PageKind;
  url: string;
  host: string;
  depth: bigint;
  attempts: bigint;
  work: string | null;
}

export function toLeasedPage(row: PageRow, token: string): LeasedPage {
  return {
    crawlId: row.crawl_id,
    number: Number(row.number),
    kind: row.kind,
    url: row.url,
    host: row.host,
    depth: Number(row.depth),
    attempts: Number(row.attempts),
    token,
    work: row.work === null ? undefined : jsonOf(row.work),
  };
}

export interface FailureRow {
  number: bigint;
  url: string;
  state: bigint;
  failure_code: string;
  failure: string;
  ended_at: bigint;
}

export function toPageFailure(row: FailureRow): PageFailure {
  return {
    number: Number(row.number),
    url: row.url,
    isBlocked: Number(row.state) === pageStates.blocked,
    code: row.failure_code,
    message: row.failure,
    at: Number(row.ended_at),
  };
}

export interface NoteRow {
  code: string;
  url: string;
  message: string;
  count: bigint;
  noted_at: bigint;
}

export function toNote({ code, url, message, count, noted_at: at }: NoteRow): CrawlNote {
  return { code, url, message, count: Number(count), at: Number(at) };
}

export interface ResultRow {
  position: bigint;
  content: Uint8Array;
}

type Value = string | number | bigint | null;

/** Postgres stores no NUL in a text. */
function messageText(message: string): string {
  return message.replaceAll("\0", "").slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed();
}

/** The parameters of the statements, in their order. */
export const parametersOf = {
  insert: (crawl: NewCrawl, activeMax: number): Value[] => [
    crawl.id,
    crawl.kind,
    crawl.owner,
    JSON.stringify(crawl.caller),
    JSON.stringify(crawl.request),
    crawl.pagesMax,
    crawl.concurrencyMax,
    crawl.delayMs,
    crawl.createdAt,
    crawl.expiresAt,
    activeMax,
  ],
  /** The page, and the lease that permits the write. */
  leased: ({ crawlId, number, token, attempts }: LeasedPage): [string, number, string, number] => [
    crawlId,
    number,
    token,
    attempts,
  ],
  end: (end: PageEnd): [number, string | null, string | null, bigint] => [
    pageStates[end.state],
    "failure" in end ? end.failure.code : null,
    "failure" in end ? messageText(end.failure.message) : null,
    ("credits" in end ? end.credits : undefined) ?? 0n,
  ],
  finish: (id: string, { state, failure, at, expiresAt }: CrawlFinish): Value[] => [
    id,
    state,
    failure?.code ?? null,
    failure === undefined ? null : messageText(failure.message),
    at,
    expiresAt,
  ],
  note: (crawlId: string, { code, url, message, at }: Omit<CrawlNote, "count">): Value[] => [
    crawlId,
    code,
    url,
    messageText(message),
    at,
  ],
};

const CRAWL_COLUMNS = `id, kind, owner, caller, request, pages_max, concurrency_max, delay_ms, state, failure_code, failure,
  discovered, completed, failed, skipped, credits, bytes, created_at, ended_at, expires_at`;

export const pageColumns = "crawl_id, number, kind, url, host, depth, attempts, work";

/** A crawl that runs has nothing left if all addresses have ended, or enough have a result and none is under way. */
const exhaustedWith = (ofCrawl: string): string => `discovered <= completed + failed + skipped OR completed >= pages_max
  AND NOT EXISTS (SELECT 1 FROM crawl_pages ${ofCrawl} WHERE crawl_id = crawls.id AND lease_token IS NOT NULL)`;

/** SQLite's planner does not know that few rows are leased: its statements name the index. */
interface Hints {
  ofCrawl: string;
  byLease: string;
}

/** The statements that both engines share; they differ in the names of parameters and in such hints. */
export function statementsWith(parameter: (index: number) => string, { ofCrawl, byLease }: Hints) {
  const [p1, p2, p3, p4, p5, p6, p7, p8, p9, p10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(parameter);
  return {
    insert: `INSERT INTO crawls (id, kind, owner, caller, request, pages_max, concurrency_max, delay_ms, created_at,
        expires_at, state)
      SELECT ${p1}, ${p2}, ${p3}, ${p4}, ${p5}, ${p6}, ${p7}, ${p8}, ${p9}, ${p10}, 'scraping'
      WHERE (SELECT count(*) FROM crawls WHERE owner = ${p3} AND state = 'scraping') < ${parameter(11)}
      ON CONFLICT DO NOTHING RETURNING id`,
    rewrite: `UPDATE crawls SET request = ${p2} WHERE id = ${p1} AND state = 'scraping'`,
    find: `SELECT ${CRAWL_COLUMNS} FROM crawls WHERE id = ${p1}`,
    active: `SELECT ${CRAWL_COLUMNS} FROM crawls WHERE owner = ${p1} AND state = 'scraping' ORDER BY created_at DESC, id`,
    renew: `UPDATE crawl_pages ${byLease} SET lease_until = ${p2} WHERE lease_token = ${p1} RETURNING crawl_id`,
    running: `SELECT DISTINCT crawls.id FROM crawl_pages ${byLease} JOIN crawls ON crawls.id = crawl_pages.crawl_id
      WHERE crawl_pages.lease_token = ${p1} AND crawls.state = 'scraping'`,
    leased: `SELECT count(*) AS count FROM crawl_pages ${ofCrawl} WHERE crawl_id = ${p1} AND lease_token IS NOT NULL`,
    repeats: `SELECT 1 FROM crawl_pages WHERE crawl_id = ${p1} AND digest = ${p2} AND number <> ${p3}`,
    pace: `INSERT INTO web_hosts (host, next_at, interval_ms) VALUES (${p1}, ${p3}, ${p2})
      ON CONFLICT (host) DO UPDATE SET interval_ms = excluded.interval_ms`,
    rest: `INSERT INTO web_hosts (host, next_at, interval_ms) VALUES (${p1}, ${p2}, 0)
      ON CONFLICT (host) DO UPDATE SET next_at = excluded.next_at WHERE web_hosts.next_at < excluded.next_at`,
    note: `INSERT INTO crawl_notes (crawl_id, code, url, message, noted_at, count)
      SELECT ${p1}, ${p2}, ${p3}, ${p4}, ${p5}, 1 WHERE EXISTS (SELECT 1 FROM crawls WHERE id = ${p1})
      ON CONFLICT (crawl_id, code) DO UPDATE SET count = crawl_notes.count + 1`,
    exhausted: `SELECT ${CRAWL_COLUMNS} FROM crawls WHERE state = 'scraping' AND (${exhaustedWith(ofCrawl)})
      AND (discovered > 0 OR created_at < ${p1}) LIMIT 100`,
    overdue: `SELECT ${CRAWL_COLUMNS} FROM crawls WHERE state = 'scraping' AND expires_at <= ${p1} LIMIT 100`,
    content: `SELECT content FROM crawl_results WHERE crawl_id = ${p1} AND number = ${p2}`,
    finish: `UPDATE crawls SET state = ${p2}, failure_code = ${p3}, failure = ${p4}, ended_at = ${p5}, expires_at = ${p6}
      WHERE id = ${p1} AND state = 'scraping' RETURNING id`,
    results: `SELECT position, content FROM (
        SELECT p.position, p.number, sum(p.bytes) OVER (ORDER BY p.position ROWS UNBOUNDED PRECEDING) AS total
        FROM crawl_pages p
        WHERE p.crawl_id = ${p1} AND p.position >= ${p2} AND p.position < ${p2} + ${p3}
      ) AS listed JOIN crawl_results r ON r.crawl_id = ${p1} AND r.number = listed.number
      WHERE total <= ${p4} OR position = ${p2} ORDER BY position`,
    failures: `SELECT number, url, state, failure_code, failure, ended_at FROM crawl_pages
      WHERE crawl_id = ${p1} AND failure_code IS NOT NULL ORDER BY number LIMIT ${p2}`,
    notes: `SELECT code, url, message, count, noted_at FROM crawl_notes WHERE crawl_id = ${p1} ORDER BY noted_at, code`,
    oversized: `SELECT ${CRAWL_COLUMNS} FROM crawls WHERE state = 'scraping' AND id IN (
      SELECT id FROM (
        SELECT id, sum(bytes) OVER (PARTITION BY owner ORDER BY bytes, id ROWS UNBOUNDED PRECEDING) AS total
        FROM crawls WHERE state = 'scraping'
      ) AS running WHERE total > ${p1}) LIMIT 100`,
    makeRoom: `UPDATE crawls SET expires_at = ${p4} WHERE state <> 'scraping' AND id <> ${p1} AND id IN (
      SELECT id FROM (
        SELECT id, sum(bytes) OVER (
          ORDER BY state = 'scraping' DESC, id = ${p1} DESC, created_at DESC, id DESC ROWS UNBOUNDED PRECEDING) AS total
        FROM crawls WHERE owner = ${p2} AND expires_at > ${p4}
      ) AS kept WHERE total > ${p3})`,
    /** The rows of an expired crawl, and once they are gone the crawl itself. */
    deleteResults: `DELETE FROM crawl_results WHERE (crawl_id, number) IN (
      SELECT crawl_id, number FROM crawl_results WHERE crawl_id = ${p1} LIMIT ${p2})`,
    deletePages: `DELETE FROM crawl_pages WHERE (crawl_id, number) IN (
      SELECT crawl_id, number FROM crawl_pages WHERE crawl_id = ${p1} LIMIT ${p2})`,
    deleteLanes: `DELETE FROM crawl_lanes WHERE crawl_id = ${p1}`,
    deleteNotes: `DELETE FROM crawl_notes WHERE crawl_id = ${p1}`,
    deleteCrawl: `DELETE FROM crawls WHERE id = ${p1}`,
    deleteHosts: `DELETE FROM web_hosts WHERE next_at < ${p1}`,
    expired: `SELECT id FROM crawls WHERE expires_at <= ${p1} ORDER BY expires_at LIMIT 1`,
  };
}

/** How long a host that nobody crawls is remembered. */
export const hostTtlMs = 24 * 3_600_000;
