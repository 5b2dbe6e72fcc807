import { column, perEngine, sql, type Statement, tableOf } from "../../../storage/index.ts";
import type { Added, CrawlFinish, FetchedPage, LeasedPage, NewPage, PageEnd, Storing, TakeRequest } from "../store.ts";
import {
  attemptsMax,
  burstMs,
  busyMs,
  knownKinds,
  lanesPerPage,
  messageText,
  object,
  pages,
  pageStates,
} from "./rows.ts";
import { finished, SqlCrawlStore } from "./store.ts";

const { flag, integer, oneOf } = column;

const added = tableOf<Added>({ added: integer, isFull: flag });
const storing = tableOf({ outcome: oneOf<Storing>({ stored: true, duplicate: true, lost: true }) });

const kinds = perEngine({ sqlite: "", postgres: `ARRAY[${knownKinds}]` });

/** The page, and the lease that permits the write. */
const leased = ({ crawlId, number, token, attempts }: LeasedPage): Statement =>
  sql`${crawlId}, ${number}, ${token}, ${attempts}`;

/** Crawls on Postgres, whose writes are functions of the schema. */
export class PostgresCrawlStore extends SqlCrawlStore {
  async add(crawlId: string, newPages: readonly NewPage[], at: number, discoveredMax: number): Promise<Added> {
    const adding = sql`SELECT added.* FROM (
        SELECT array_agg(page ->> 'kind') AS kinds, array_agg(page ->> 'key') AS keys, array_agg(page ->> 'url') AS urls,
          array_agg(page ->> 'host') AS hosts, array_agg((page ->> 'depth')::bigint) AS depths
        FROM json_array_elements(${JSON.stringify(newPages)}::text::json) AS page
      ) AS given, crawl_add(${crawlId}, kinds, keys, urls, hosts, depths, ${at}, ${discoveredMax}) AS added`;
    return (await this.sql.first(adding, added.read)) ?? { added: 0, isFull: false };
  }

  take({ lease, at, pagesMax, ownerShare, politeness }: TakeRequest): Promise<LeasedPage[]> {
    return this.sql.rows(
      sql`SELECT ${pages.names} FROM crawl_take(${lease.token}, ${lease.until}, ${at}, ${pagesMax},
        ${politeness.connectionsMax}, ${politeness.intervalMs}, ${attemptsMax}, ${busyMs}, ${burstMs},
        ${pagesMax * lanesPerPage}, ${ownerShare}, ${kinds})`,
      (row) => ({ ...pages.read(row), token: lease.token }),
    );
  }

  async fetched(page: LeasedPage, { content, work, digest }: FetchedPage): Promise<Storing> {
    const stored = await this.sql.first(
      sql`SELECT crawl_fetched(${leased(page)}, ${object.write(work)}, ${content}, ${content.byteLength}, ${digest})
        AS outcome`,
      storing.read,
    );
    return stored?.outcome ?? "lost";
  }

  end(page: LeasedPage, end: PageEnd, at: number): Promise<boolean> {
    const failure = "failure" in end ? end.failure : undefined;
    const credits = "credits" in end ? end.credits : undefined;
    return this.sql.hasRows(sql`SELECT 1 WHERE crawl_end(${leased(page)}, ${pageStates[end.state]}, ${failure?.code},
      ${failure && messageText(failure.message)}, ${credits ?? 0n}, ${page.host}, ${at})`);
  }

  giveBack(page: LeasedPage, readyAt: number): Promise<boolean> {
    return this.sql.hasRows(sql`SELECT 1 WHERE crawl_give_back(${leased(page)}, ${page.host}, ${readyAt})`);
  }

  finish(id: string, finish: CrawlFinish): Promise<boolean> {
    return this.sql.hasRows(sql`WITH ended AS (${finished(id, finish)}),
      gone AS (DELETE FROM crawl_lanes WHERE crawl_id IN (SELECT id FROM ended)) SELECT id FROM ended`);
  }
}
