import type { JsonObject } from "../../../core/index.ts";
import { column, perEngine, sql, type Statement, tableOf } from "../../../storage/index.ts";
import type {
  Added,
  Crawl,
  CrawlFinish,
  CrawlPage,
  CrawlStore,
  FetchedPage,
  LeasedPage,
  ListedCrawl,
  NewCrawl,
  NewPage,
  PageEnd,
  PageId,
  Politeness,
  Storing,
  TakeRequest,
} from "../store.ts";
import { burstMs, crawls, knownKinds, listedCrawls, messageText, newCrawls, object, toCrawl } from "./rows.ts";
import { SqlCrawlResults } from "./results-store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 5_000;

/** How long a host that nobody crawls is remembered. */
const HOST_TTL_MS = 24 * 3_600_000;

const counts = tableOf({ count: column.integer });
const moments = tableOf({ endedAt: column.integer });
const ids = tableOf({ id: column.text });

/** SQLite's planner does not know that few rows are leased: its statements name the index. */
export const ofCrawl = perEngine({ sqlite: "INDEXED BY crawl_pages_of_crawl", postgres: "" });
export const byLease = perEngine({ sqlite: "INDEXED BY crawl_pages_by_lease", postgres: "" });

const kinds = `(${knownKinds})`;
const isKnown = perEngine({ sqlite: `kind IN ${kinds}`, postgres: `kind IN ${kinds}` });

const CRAWLS = sql`SELECT ${crawls.names} FROM crawls WHERE ${isKnown} AND`;

/** What the engines share. */
export abstract class SqlCrawlStore extends SqlCrawlResults implements CrawlStore {
  abstract add(crawlId: string, pages: readonly NewPage[], at: number, discoveredMax: number): Promise<Added>;
  abstract take(request: TakeRequest): Promise<LeasedPage[]>;
  abstract fetched(page: LeasedPage, fetched: FetchedPage): Promise<Storing>;
  abstract end(page: LeasedPage, end: PageEnd, at: number): Promise<boolean>;
  abstract giveBack(page: LeasedPage, readyAt: number): Promise<boolean>;
  abstract finish(id: string, finish: CrawlFinish): Promise<boolean>;

  insert(crawl: NewCrawl, activeMax: number): Promise<boolean> {
    return this.sql.hasRows(sql`INSERT INTO crawls (${newCrawls.names}, credits, state)
      SELECT ${newCrawls.values(crawl)}, ${crawl.credits ?? 0n}, 'scraping'
      WHERE (SELECT count(*) FROM crawls WHERE owner = ${crawl.owner} AND state = 'scraping') < ${activeMax}
      ON CONFLICT DO NOTHING RETURNING id`);
  }

  extend(
    id: string,
    { pagesMax, expiresAt, activeMax }: Pick<NewCrawl, "pagesMax" | "expiresAt"> & { activeMax: number },
  ): Promise<boolean> {
    const running = sql`SELECT count(*) FROM crawls other WHERE other.owner = crawls.owner AND other.state = 'scraping'`;
    return this.sql.hasRows(sql`UPDATE crawls
      SET state = 'scraping', ended_at = NULL, pages_max = ${pagesMax}, expires_at = ${expiresAt}
      WHERE id = ${id} AND kind = 'batch'
        AND (state = 'scraping' OR state = 'completed' AND (${running}) < ${activeMax}) RETURNING id`);
  }

  find(id: string): Promise<Crawl | undefined> {
    return this.sql.first(sql`${CRAWLS} id = ${id}`, toCrawl);
  }

  rewrite(id: string, request: JsonObject): Promise<void> {
    return this.sql.run(
      sql`UPDATE crawls SET request = ${object.write(request)} WHERE id = ${id} AND state = 'scraping'`,
    );
  }

  list({ limit, after = "" }: CrawlPage): Promise<ListedCrawl[]> {
    return this.sql.rows(
      sql`SELECT ${listedCrawls.names} FROM crawls WHERE ${isKnown} AND id > ${after} ORDER BY id LIMIT ${limit}`,
      listedCrawls.read,
    );
  }

  active(owner: string): Promise<Crawl[]> {
    return this.sql.rows(sql`${CRAWLS} owner = ${owner} AND state = 'scraping' ORDER BY created_at DESC, id`, toCrawl);
  }

  async lastCompleted(owner: string): Promise<number | undefined> {
    const ends = sql`SELECT ended_at FROM crawls WHERE owner = ${owner} AND state = 'completed' AND ended_at IS NOT NULL
      ORDER BY ended_at DESC LIMIT 1`;
    return (await this.sql.first(ends, moments.read))?.endedAt;
  }

  async renew(token: string, until: number): Promise<string[]> {
    const isHeld = await this.sql.hasRows(
      sql`UPDATE crawl_pages ${byLease} SET lease_until = ${until} WHERE lease_token = ${token} RETURNING crawl_id`,
    );
    if (!isHeld) return [];
    const running = sql`SELECT DISTINCT crawls.id FROM crawl_pages ${byLease} JOIN crawls ON crawls.id = crawl_pages.crawl_id
      WHERE crawl_pages.lease_token = ${token} AND crawls.state = 'scraping'`;
    return this.sql.rows(running, (row) => ids.read(row).id);
  }

  repeats(page: LeasedPage, digest: string): Promise<boolean> {
    return this.sql.hasRows(repeated(page, digest));
  }

  async leased(crawlId: string): Promise<number> {
    const leased = sql`SELECT count(*) AS count FROM crawl_pages ${ofCrawl}
      WHERE crawl_id = ${crawlId} AND lease_token IS NOT NULL`;
    return (await this.sql.first(leased, counts.read))?.count ?? 0;
  }

  pace(host: string, intervalMs: number, at: number): Promise<void> {
    return this.sql.run(sql`INSERT INTO web_hosts (host, next_at, interval_ms) VALUES (${host}, ${at}, ${intervalMs})
      ON CONFLICT (host) DO UPDATE SET interval_ms = excluded.interval_ms`);
  }

  /** Pages may start before their turn, by the burst of the general pace: none may start before the rest is over. */
  rest(host: string, until: number, { intervalMs }: Pick<Politeness, "intervalMs">): Promise<void> {
    const nextAt = until + Math.max(0, burstMs - intervalMs);
    const own = sql`CASE WHEN web_hosts.interval_ms > 0 THEN ${until} ELSE ${nextAt} END`;
    return this.sql.run(sql`INSERT INTO web_hosts (host, next_at, interval_ms) VALUES (${host}, ${nextAt}, 0)
      ON CONFLICT (host) DO UPDATE SET next_at = ${own} WHERE web_hosts.next_at < ${own}`);
  }

  /** All addresses have ended, or enough have a result and none is under way. */
  exhausted(at: number): Promise<Crawl[]> {
    return this.sql.rows(
      sql`${CRAWLS} state = 'scraping' AND (discovered <= completed + failed + skipped OR completed >= pages_max
          AND NOT EXISTS (
            SELECT 1 FROM crawl_pages ${ofCrawl} WHERE crawl_id = crawls.id AND lease_token IS NOT NULL))
        AND (discovered > 0 OR created_at < ${at}) LIMIT 100`,
      toCrawl,
    );
  }

  overdue(at: number): Promise<Crawl[]> {
    return this.sql.rows(sql`${CRAWLS} state = 'scraping' AND expires_at <= ${at} LIMIT 100`, toCrawl);
  }

  oversized(bytesMax: number): Promise<Crawl[]> {
    return this.sql.rows(
      sql`${CRAWLS} state = 'scraping' AND id IN (
        SELECT id FROM (
          SELECT id, sum(bytes) OVER (PARTITION BY owner ORDER BY bytes, id ROWS UNBOUNDED PRECEDING) AS total
          FROM crawls WHERE state = 'scraping'
        ) AS running WHERE total > ${bytesMax}) LIMIT 100`,
      toCrawl,
    );
  }

  makeRoom({ id, owner }: Pick<Crawl, "id" | "owner">, bytesMax: number, at: number): Promise<void> {
    return this.sql.run(sql`UPDATE crawls SET expires_at = ${at} WHERE state <> 'scraping' AND id <> ${id} AND id IN (
      SELECT id FROM (
        SELECT id, sum(bytes) OVER (
          ORDER BY state = 'scraping' DESC, id = ${id} DESC, created_at DESC, id DESC ROWS UNBOUNDED PRECEDING) AS total
        FROM crawls WHERE owner = ${owner} AND expires_at > ${at}
      ) AS kept WHERE total > ${bytesMax})`);
  }

  /** The rows of an expired crawl, and once they are gone the crawl itself. */
  async deleteExpired(at: number): Promise<boolean> {
    await this.sql.run(sql`DELETE FROM web_hosts WHERE next_at < ${at - HOST_TTL_MS}`);
    const expired = sql`SELECT id FROM crawls WHERE expires_at <= ${at} ORDER BY expires_at LIMIT 1`;
    const id = (await this.sql.first(expired, ids.read))?.id;
    if (id === undefined) return false;
    await this.sql.run(deleteLanes(id));
    for (const statement of [
      sql`DELETE FROM crawl_results WHERE (crawl_id, number) IN (
        SELECT crawl_id, number FROM crawl_results WHERE crawl_id = ${id} LIMIT ${DELETED_MAX}) RETURNING number`,
      sql`DELETE FROM crawl_pages WHERE (crawl_id, number) IN (
        SELECT crawl_id, number FROM crawl_pages WHERE crawl_id = ${id} LIMIT ${DELETED_MAX}) RETURNING number`,
    ]) {
      const deleted = await this.sql.rows(statement, () => undefined);
      if (deleted.length === DELETED_MAX) return true;
    }
    await this.sql.run(sql`DELETE FROM crawl_notes WHERE crawl_id = ${id}`);
    await this.sql.run(sql`DELETE FROM crawls WHERE id = ${id}`);
    return true;
  }
}

export const repeated = ({ crawlId, number }: PageId, digest: string): Statement =>
  sql`SELECT 1 FROM crawl_pages WHERE crawl_id = ${crawlId} AND digest = ${digest} AND number <> ${number}`;

export const deleteLanes = (crawlId: string): Statement => sql`DELETE FROM crawl_lanes WHERE crawl_id = ${crawlId}`;

/** One that is complete must still be so: addresses may have been added to it meanwhile. */
export const finished = (id: string, { state, failure, at, expiresAt }: CrawlFinish): Statement => sql`
  UPDATE crawls SET state = ${state}, failure_code = ${failure?.code},
    failure = ${failure && messageText(failure.message)}, ended_at = ${at}, expires_at = ${expiresAt}
  WHERE id = ${id} AND state = 'scraping' AND (${state !== "completed"}
    OR discovered <= completed + failed + skipped OR completed >= pages_max) RETURNING id`;
