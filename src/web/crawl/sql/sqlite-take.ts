/** Leases the next pages on SQLite. The function `crawl_take` does the same on Postgres. */
import { column, perEngine, sql, type Statement, tableOf, type Transaction } from "../../../storage/index.ts";
import type { LeasedPage, TakeRequest } from "../store.ts";
import { attemptsMax, burstMs, busyMs, knownKinds, lanesPerPage, pages, pageStates } from "./rows.ts";
import { byLease, ofCrawl } from "./store.ts";

const { text, integer } = column;
const { waiting, running, fetched, failed, skipped } = pageStates;

interface Lane {
  crawlId: string;
  host: string;
}

interface ExpiredPage extends Lane {
  number: number;
  state: number;
  attempts: number;
}

const lanes = tableOf<Lane>({ crawlId: text, host: text });
const expired = tableOf<ExpiredPage>({ crawlId: text, number: integer, state: integer, host: text, attempts: integer });

/** Of one lane: the permissions of its crawl and its host. */
const permissions = tableOf({
  delayMs: integer,
  room: integer,
  /** Pages of its owner that this process runs. */
  owned: integer,
  connections: integer,
  nextAt: integer,
  intervalMs: integer,
});

const known = (table: string): Statement => {
  const sqlite = `(SELECT kind FROM crawls WHERE id = ${table}.crawl_id) IN (${knownKinds})`;
  return perEngine({ sqlite, postgres: sqlite });
};
const knownLane = known("crawl_lanes");
const knownPage = known("crawl_pages");

export const waitingLanes = (at: number, countMax: number): Statement => sql`SELECT ${lanes.names} FROM crawl_lanes
  WHERE waiting > 0 AND ready_at <= ${at} AND ${knownLane} ORDER BY ready_at LIMIT ${countMax}`;

export const expiredPages = (at: number, countMax: number): Statement => sql`SELECT ${expired.names} FROM crawl_pages
  INDEXED BY crawl_pages_leased WHERE lease_token IS NOT NULL AND lease_until < ${at} AND ${knownPage} LIMIT ${countMax}`;

export function takePages(transaction: Transaction, request: TakeRequest): LeasedPage[] {
  const { at, pagesMax } = request;
  const taken: LeasedPage[] = [];
  for (const page of transaction.rows(expiredPages(at, pagesMax), expired.read)) {
    taken.push(...recover(transaction, page, request));
  }
  for (const lane of transaction.rows(waitingLanes(at, pagesMax * lanesPerPage), lanes.read)) {
    if (taken.length >= pagesMax) break;
    taken.push(...takeFrom(transaction, lane, { ...request, pagesMax: pagesMax - taken.length }));
  }
  return taken;
}

/** The page of a process that died: one that was fetched is charged by the caller, another one waits again. */
function recover(transaction: Transaction, page: ExpiredPage, { at, lease }: TakeRequest): LeasedPage[] {
  const { crawlId, number, host, attempts } = page;
  const its = sql`crawl_id = ${crawlId} AND number = ${number}`;
  if (page.state === fetched) {
    return transaction.rows(
      sql`UPDATE crawl_pages SET lease_token = ${lease.token}, lease_until = ${lease.until}, attempts = attempts + 1
        WHERE ${its} RETURNING ${pages.names}`,
      (row) => ({ ...pages.read(row), token: lease.token }),
    );
  }
  const isOver = !transaction.hasRows(sql`SELECT 1 FROM crawls WHERE id = ${crawlId} AND state = 'scraping'`);
  const isCrashed = !isOver && attempts >= attemptsMax;
  const failure = isCrashed
    ? { code: "CRASHED", message: "The page could not be fetched: its processes died." }
    : undefined;
  transaction.run(sql`UPDATE crawl_pages SET state = ${isOver ? skipped : isCrashed ? failed : waiting}, lease_token = NULL,
    lease_until = NULL, failure_code = ${failure?.code}, failure = ${failure?.message}, ended_at = ${failure && at}
    WHERE ${its}`);
  if (isOver || isCrashed) {
    transaction.run(
      sql`UPDATE crawls SET failed = failed + ${isCrashed}, skipped = skipped + ${isOver} WHERE id = ${crawlId}`,
    );
  } else {
    transaction.run(sql`UPDATE crawl_lanes SET waiting = waiting + 1, ready_at = min(ready_at, ${at})
      WHERE crawl_id = ${crawlId} AND host = ${host}`);
  }
  return [];
}

function takeFrom(transaction: Transaction, lane: Lane, request: TakeRequest): LeasedPage[] {
  const { at, lease, pagesMax, politeness } = request;
  const { crawlId, host } = lane;
  const found = transaction.first(permitted(lane, lease.token), permissions.read);
  if (found === undefined) return [];
  const { delayMs, nextAt } = found;
  const intervalMs = Math.max(found.intervalMs, politeness.intervalMs);
  // A host's own pause is kept exactly; the general rate over a second.
  const toleranceMs = found.intervalMs > 0 ? 0 : burstMs - intervalMs;
  const paced = startsBy({ at, nextAt, intervalMs, toleranceMs });
  const count = Math.min(
    pagesMax,
    found.room,
    ownerRoom(request, found.owned),
    politeness.connectionsMax - found.connections,
    paced,
    delayMs > 0 ? 1 : pagesMax,
  );
  const itsLane = sql`WHERE crawl_id = ${crawlId} AND host = ${host}`;
  if (count <= 0) {
    const readyAt = paced > 0 ? at + busyMs : Math.max(at + 1, nextAt - Math.max(0, toleranceMs));
    transaction.run(sql`UPDATE crawl_lanes SET ready_at = ${readyAt} ${itsLane}`);
    return [];
  }
  const taken = transaction.rows(
    sql`UPDATE crawl_pages
      SET state = ${running}, attempts = attempts + 1, lease_token = ${lease.token}, lease_until = ${lease.until}
      WHERE crawl_id = ${crawlId} AND number IN (
        SELECT number FROM crawl_pages INDEXED BY crawl_pages_waiting ${itsLane} AND state = 0 ORDER BY number
        LIMIT ${count})
      RETURNING ${pages.names}`,
    (row) => ({ ...pages.read(row), token: lease.token }),
  );
  if (intervalMs > 0) {
    transaction.run(sql`INSERT INTO web_hosts (host, next_at, interval_ms)
      VALUES (${host}, ${Math.max(nextAt, at) + taken.length * intervalMs}, 0)
      ON CONFLICT (host) DO UPDATE SET next_at = excluded.next_at`);
  }
  transaction.run(
    sql`UPDATE crawl_lanes SET waiting = waiting - ${taken.length}, ready_at = ${at + delayMs} ${itsLane}`,
  );
  return taken.toSorted((a, b) => a.number - b.number);
}

const permitted = ({ crawlId, host }: Lane, token: string): Statement => sql`SELECT c.delay_ms,
    min(c.concurrency_max, c.pages_max - c.completed)
      - (SELECT count(*) FROM crawl_pages p ${ofCrawl} WHERE p.crawl_id = c.id AND p.lease_token IS NOT NULL) AS room,
    (SELECT count(*) FROM crawl_pages p ${byLease} JOIN crawls o ON o.id = p.crawl_id
      WHERE p.lease_token = ${token} AND o.owner = c.owner) AS owned,
    (SELECT count(*) FROM crawl_pages p INDEXED BY crawl_pages_of_host
      WHERE p.host = ${host} AND p.lease_token IS NOT NULL) AS connections,
    coalesce((SELECT next_at FROM web_hosts WHERE host = ${host}), 0) AS next_at,
    coalesce((SELECT interval_ms FROM web_hosts WHERE host = ${host}), 0) AS interval_ms
  FROM crawls c WHERE c.id = ${crawlId}`;

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
