/** A frontier with a million addresses, written by statements over many rows. */
import { SQL } from "bun";
import type { Storage } from "../../src/storage/index.ts";
import { openWebDatabase } from "../../src/web/index.ts";

/** How the addresses are spread. */
export interface FrontierShape {
  title: string;
  crawls: number;
  hostsOfCrawl: number;
}

export interface Frontier extends FrontierShape {
  rows: number;
  /** When everything became due. */
  at: number;
}

const expiresInMs = 3 * 24 * 3_600_000;

/** Writes crawls of which a half has been read, as in the middle of their run. */
export async function fillFrontier(storage: Storage, url: string, frontier: Frontier): Promise<void> {
  // A gateway's own statements have a time-out that these would exceed.
  const pool = storage.engine === "postgres" ? new SQL(url, { max: 1 }) : undefined;
  const file = storage.engine === "sqlite" ? openWebDatabase(storage.place) : undefined;
  try {
    for (const statement of statementsFor(storage, frontier)) {
      file?.run(statement);
      await pool?.unsafe(statement);
    }
  } finally {
    file?.close();
    await pool?.close();
  }
}

function statementsFor({ engine }: Storage, frontier: Frontier): string[] {
  const { rows, crawls, hostsOfCrawl, at } = frontier;
  const isSqlite = engine === "sqlite";
  const perCrawl = Math.floor(rows / crawls);
  const series = (name: string, count: number): string =>
    isSqlite
      ? `(WITH RECURSIVE ${name}(${name}) AS (SELECT 0 UNION ALL SELECT ${name} + 1 FROM ${name} WHERE ${name} < ${count - 1})
          SELECT ${name} FROM ${name})`
      : `generate_series(0::bigint, ${count - 1}) AS ${name}`;
  const crawl = "'crawl-' || c";
  const host = "'site-' || c || '-' || h || '.test'";
  const ofPage = `'site-' || c || '-' || (n % ${hostsOfCrawl}) || '.test'`;
  const key = isSqlite ? "hex(randomblob(16))" : "md5(c || ' ' || n)";
  const isRead = `n < ${Math.floor(perCrawl / 2)}`;
  const waiting = `(SELECT count(*) FROM crawl_pages p WHERE p.crawl_id = ${crawl} AND p.host = ${host} AND p.state = 0)`;
  return [
    `INSERT INTO crawls (id, kind, owner, caller, request, pages_max, concurrency_max, delay_ms, state, discovered, completed,
       created_at, expires_at)
     SELECT ${crawl}, 'crawl', 'owner', '{}', '{}', 100000000, 100000000, 0, 'scraping', ${perCrawl}, 0, ${at}, ${at + expiresInMs}
     FROM ${series("c", crawls)}`,
    `INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, position)
     SELECT ${crawl}, n, 'page', ${key}, 'https://' || ${ofPage} || '/articles/of-a-year/number-' || n, ${ofPage}, 3,
       CASE WHEN ${isRead} THEN 3 ELSE 0 END, CASE WHEN ${isRead} THEN n END
     FROM ${series("c", crawls)}, ${series("n", perCrawl)}`,
    `INSERT INTO crawl_lanes (crawl_id, host, waiting, ready_at)
     SELECT ${crawl}, ${host}, ${waiting}, ${at} FROM ${series("c", crawls)}, ${series("h", hostsOfCrawl)}`,
    `INSERT INTO web_hosts (host, next_at, interval_ms) SELECT ${host}, ${at}, 0
     FROM ${series("c", crawls)}, ${series("h", hostsOfCrawl)}`,
    ...(isSqlite ? [] : ["ANALYZE"]),
  ];
}
