/** Leases the next pages on SQLite. The function `crawl_take` does the same on Postgres. */
import type { Database } from "bun:sqlite";
import type { LeasedPage, TakeRequest } from "../store.ts";
import {
  attemptsMax,
  burstMs,
  busyMs,
  lanesPerPage,
  pageColumns,
  type PageRow,
  pageStates,
  toLeasedPage,
} from "./rows.ts";

const { waiting, running, fetched, failed, skipped } = pageStates;

const LANES = `SELECT crawl_id, host FROM crawl_lanes WHERE waiting > 0 AND ready_at <= ?1 ORDER BY ready_at LIMIT ?2`;

const EXPIRED = `SELECT crawl_id, number, state, host, attempts FROM crawl_pages
  INDEXED BY crawl_pages_leased WHERE lease_token IS NOT NULL AND lease_until < ?1 LIMIT ?2`;

/** Of one lane: the permissions of its crawl and its host. */
const PERMITTED = `SELECT c.delay_ms,
    min(c.concurrency_max, c.pages_max - c.completed)
      - (SELECT count(*) FROM crawl_pages p INDEXED BY crawl_pages_of_crawl WHERE p.crawl_id = c.id AND p.lease_token IS NOT NULL) AS room,
    (SELECT count(*) FROM crawl_pages p INDEXED BY crawl_pages_by_lease JOIN crawls o ON o.id = p.crawl_id
      WHERE p.lease_token = ?3 AND o.owner = c.owner) AS owned,
    (SELECT count(*) FROM crawl_pages p INDEXED BY crawl_pages_of_host WHERE p.host = ?2 AND p.lease_token IS NOT NULL) AS connections,
    coalesce((SELECT next_at FROM web_hosts WHERE host = ?2), 0) AS next_at,
    coalesce((SELECT interval_ms FROM web_hosts WHERE host = ?2), 0) AS interval_ms
  FROM crawls c WHERE c.id = ?1`;

const LEASE = `UPDATE crawl_pages SET state = ${running}, attempts = attempts + 1, lease_token = ?4, lease_until = ?5
  WHERE crawl_id = ?1 AND number IN (
    SELECT number FROM crawl_pages INDEXED BY crawl_pages_waiting WHERE crawl_id = ?1 AND host = ?2 AND state = ${waiting} ORDER BY number LIMIT ?3)
  RETURNING ${pageColumns}`;

const RELEASE = `UPDATE crawl_pages SET lease_token = ?3, lease_until = ?4, attempts = attempts + 1
  WHERE crawl_id = ?1 AND number = ?2 RETURNING ${pageColumns}`;

const REQUEUE = `UPDATE crawl_pages SET state = ?3, lease_token = NULL, lease_until = NULL, failure_code = ?4, failure = ?5,
    ended_at = ?6 WHERE crawl_id = ?1 AND number = ?2`;

const LANE_GROWS = `UPDATE crawl_lanes SET waiting = waiting + 1, ready_at = min(ready_at, ?3)
  WHERE crawl_id = ?1 AND host = ?2`;

const HOST_NEXT = `INSERT INTO web_hosts (host, next_at, interval_ms) VALUES (?1, ?2, 0)
  ON CONFLICT (host) DO UPDATE SET next_at = excluded.next_at`;

interface LaneRow {
  crawl_id: string;
  host: string;
}

interface ExpiredRow extends LaneRow {
  number: bigint;
  state: bigint;
  attempts: bigint;
}

interface PermittedRow {
  delay_ms: bigint;
  room: bigint;
  /** Pages of its owner that this process runs. */
  owned: bigint;
  connections: bigint;
  next_at: bigint;
  interval_ms: bigint;
}

/** Reads first, since a read needs no write lock and most of the time nothing is due. */
export function takePages(database: Database, request: TakeRequest): LeasedPage[] {
  const { at, pagesMax } = request;
  const expired = database.query<ExpiredRow, [number, number]>(EXPIRED).get(at, 1);
  if (expired === null && database.query<LaneRow, [number, number]>(LANES).get(at, 1) === null) return [];
  const take = database.transaction(() => {
    const taken: LeasedPage[] = [];
    for (const row of database.query<ExpiredRow, [number, number]>(EXPIRED).all(at, pagesMax)) {
      taken.push(...recover(database, row, request));
    }
    const lanes = database.query<LaneRow, [number, number]>(LANES).all(at, pagesMax * lanesPerPage);
    for (const lane of lanes) {
      if (taken.length >= pagesMax) break;
      taken.push(...takeFrom(database, lane, { ...request, pagesMax: pagesMax - taken.length }));
    }
    return taken;
  });
  return take.immediate();
}

/** The page of a process that died: one that was fetched is charged by the caller, another one waits again. */
function recover(database: Database, row: ExpiredRow, { at, lease }: TakeRequest): LeasedPage[] {
  const { crawl_id: crawlId, number, host } = row;
  if (Number(row.state) === fetched) {
    const rows = database
      .query<PageRow, [string, bigint, string, number]>(RELEASE)
      .all(crawlId, number, lease.token, lease.until);
    return rows.map((each) => toLeasedPage(each, lease.token));
  }
  const isOver = database.query("SELECT 1 FROM crawls WHERE id = ?1 AND state = 'scraping'").get(crawlId) === null;
  const crashed = Number(row.attempts) >= attemptsMax;
  const state = isOver ? skipped : crashed ? failed : waiting;
  const failure = state === failed ? ["CRASHED", "The page could not be fetched: its processes died."] : [null, null];
  database
    .query(REQUEUE)
    .run(crawlId, number, state, failure[0] ?? null, failure[1] ?? null, state === failed ? at : null);
  if (state === waiting) database.query(LANE_GROWS).run(crawlId, host, at);
  else {
    const column = state === failed ? "failed" : "skipped";
    database.query(`UPDATE crawls SET ${column} = ${column} + 1 WHERE id = ?1`).run(crawlId);
  }
  return [];
}

function takeFrom(database: Database, lane: LaneRow, request: TakeRequest): LeasedPage[] {
  const { at, lease, pagesMax, politeness } = request;
  const { crawl_id: crawlId, host } = lane;
  const found = database.query<PermittedRow, [string, string, string]>(PERMITTED).get(crawlId, host, lease.token);
  if (found === null) return [];
  const delayMs = Number(found.delay_ms);
  const [nextAt, ownInterval] = [Number(found.next_at), Number(found.interval_ms)];
  const intervalMs = Math.max(ownInterval, politeness.intervalMs);
  // A host's own pause is kept exactly; the general rate over a second.
  const toleranceMs = ownInterval > 0 ? 0 : burstMs - intervalMs;
  const paced = startsBy({ at, nextAt, intervalMs, toleranceMs });
  const count = Math.min(
    pagesMax,
    Number(found.room),
    ownerRoom(request, Number(found.owned)),
    politeness.connectionsMax - Number(found.connections),
    paced,
    delayMs > 0 ? 1 : pagesMax,
  );
  if (count <= 0) {
    setReady(database, lane, paced > 0 ? at + busyMs : Math.max(at + 1, nextAt - Math.max(0, toleranceMs)));
    return [];
  }
  const rows = database
    .query<PageRow, [string, string, number, string, number]>(LEASE)
    .all(crawlId, host, count, lease.token, lease.until);
  if (intervalMs > 0) database.query(HOST_NEXT).run(host, Math.max(nextAt, at) + rows.length * intervalMs);
  database
    .query("UPDATE crawl_lanes SET waiting = waiting - ?3, ready_at = ?4 WHERE crawl_id = ?1 AND host = ?2")
    .run(crawlId, host, rows.length, at + delayMs);
  return rows.map((row) => toLeasedPage(row, lease.token)).toSorted((a, b) => a.number - b.number);
}

/** The pages that an owner may still have, who has `owned` of the process's pages. */
function ownerRoom({ ownerShare, pagesMax }: TakeRequest, owned: number): number {
  if (ownerShare === undefined) return pagesMax;
  return Math.max(1, Math.floor((pagesMax + owned) * ownerShare)) - owned;
}

interface Pace {
  at: number;
  /** When the next page would start if all started evenly. */
  nextAt: number;
  intervalMs: number;
  /** How much earlier it may start. */
  toleranceMs: number;
}

/** The number of pages that may start now. */
function startsBy({ at, nextAt, intervalMs, toleranceMs }: Pace): number {
  const latest = at + Math.max(0, toleranceMs);
  if (nextAt > latest) return 0;
  if (intervalMs === 0) return Number.MAX_SAFE_INTEGER;
  return Math.floor((latest - Math.max(nextAt, at)) / intervalMs) + 1;
}

function setReady(database: Database, { crawl_id: crawlId, host }: LaneRow, readyAt: number): void {
  database.query("UPDATE crawl_lanes SET ready_at = ?3 WHERE crawl_id = ?1 AND host = ?2").run(crawlId, host, readyAt);
}
