import { column, sql, type SqliteRunner, type Statement, tableOf, type Transaction } from "../../../storage/index.ts";
import type { Added, CrawlFinish, FetchedPage, LeasedPage, NewPage, PageEnd, Storing, TakeRequest } from "../store.ts";
import { messageText, object, pageStates } from "./rows.ts";
import { expiredPages, takePages, waitingLanes } from "./sqlite-take.ts";
import { deleteLanes, finished, repeated, SqlCrawlStore } from "./store.ts";

const { waiting, running, fetched, skipped } = pageStates;

const discoveries = tableOf({ discovered: column.integer });
const sizes = tableOf({ bytes: column.integer });

const leased = ({ crawlId, number, token, attempts }: LeasedPage): Statement => sql`
  WHERE crawl_id = ${crawlId} AND number = ${number} AND lease_token = ${token} AND attempts = ${attempts}`;

const scraping = (crawlId: string): Statement =>
  sql`SELECT discovered FROM crawls WHERE id = ${crawlId} AND state = 'scraping'`;

/** Crawls on SQLite. */
export class SqliteCrawlStore extends SqlCrawlStore {
  readonly #sqlite: SqliteRunner;

  constructor(runner: SqliteRunner) {
    super(runner);
    this.#sqlite = runner;
  }

  add(crawlId: string, pages: readonly NewPage[], at: number, discoveredMax: number): Promise<Added> {
    return this.#sqlite.transaction((transaction) => {
      const crawl = transaction.first(scraping(crawlId), discoveries.read);
      const room = crawl && { first: crawl.discovered, max: discoveredMax };
      return room === undefined ? { added: 0, isFull: false } : addPages(transaction, crawlId, { pages, at, room });
    });
  }

  /** Reads first, since a read needs no write lock and most of the time nothing is due. */
  async take(request: TakeRequest): Promise<LeasedPage[]> {
    const { at } = request;
    const isDue = (await this.sql.hasRows(expiredPages(at, 1))) || (await this.sql.hasRows(waitingLanes(at, 1)));
    return isDue ? this.#sqlite.transaction((transaction) => takePages(transaction, request)) : [];
  }

  /**
   * Its commit waits for the disk. The charge of the page comes next, in another file: after a power failure it must not be there
   * without the page's result, since the page would be read and charged again.
   */
  fetched(page: LeasedPage, { content, work, digest }: FetchedPage): Promise<Storing> {
    const { crawlId, number } = page;
    return this.#sqlite.flushedTransaction((transaction): Storing => {
      if (digest !== undefined && transaction.hasRows(repeated(page, digest))) return "duplicate";
      const isStored = transaction.hasRows(sql`UPDATE crawl_pages SET state = ${fetched}, work = ${object.write(work)},
          bytes = ${content.byteLength}, digest = ${digest}
        ${leased(page)} AND state = ${running} AND EXISTS (${scraping(crawlId)}) RETURNING number`);
      if (!isStored) return "lost";
      transaction.run(sql`INSERT INTO crawl_results (crawl_id, number, content) VALUES (${crawlId}, ${number}, ${content})
        ON CONFLICT (crawl_id, number) DO UPDATE SET content = excluded.content`);
      return "stored";
    });
  }

  end(page: LeasedPage, end: PageEnd, at: number): Promise<boolean> {
    const { crawlId, host } = page;
    const { state } = end;
    const failure = "failure" in end ? end.failure : undefined;
    const credits = "credits" in end ? end.credits : undefined;
    const isDone = state === "done";
    const isFailed = state === "failed";
    return this.#sqlite.transaction((transaction) => {
      const ended = transaction.first(
        sql`UPDATE crawl_pages SET state = ${pageStates[state]}, failure_code = ${failure?.code},
            failure = ${failure && messageText(failure.message)}, ended_at = ${at}, work = NULL, lease_token = NULL,
            lease_until = NULL, position = CASE WHEN ${isDone} THEN (SELECT completed FROM crawls WHERE id = ${crawlId})
              WHEN ${isFailed} THEN (SELECT -1 - failed FROM crawls WHERE id = ${crawlId}) END
          ${leased(page)} RETURNING bytes`,
        sizes.read,
      );
      if (ended === undefined) return false;
      transaction.run(sql`UPDATE crawls SET completed = completed + ${isDone}, failed = failed + ${isFailed},
          skipped = skipped + ${!isDone && !isFailed}, credits = credits + ${credits ?? 0n},
          bytes = bytes + ${isDone ? ended.bytes : 0}
        WHERE id = ${crawlId}`);
      // Another page of the host may start, unless the crawl pauses between them.
      transaction.run(sql`UPDATE crawl_lanes SET ready_at = ${at} WHERE crawl_id = ${crawlId} AND host = ${host}
        AND ready_at > ${at} AND (SELECT delay_ms FROM crawls WHERE id = ${crawlId}) = 0`);
      return true;
    });
  }

  giveBack(page: LeasedPage, readyAt: number): Promise<boolean> {
    const { crawlId, host } = page;
    return this.#sqlite.transaction((transaction) => {
      const isOver = !transaction.hasRows(scraping(crawlId));
      const isReturned = transaction.hasRows(sql`UPDATE crawl_pages SET state = ${isOver ? skipped : waiting},
          attempts = attempts - 1, lease_token = NULL, lease_until = NULL
        ${leased(page)} AND state = ${running} RETURNING number`);
      if (!isReturned) return false;
      transaction.run(
        isOver
          ? sql`UPDATE crawls SET skipped = skipped + 1 WHERE id = ${crawlId}`
          : sql`UPDATE crawl_lanes SET waiting = waiting + 1, ready_at = max(ready_at, ${readyAt})
              WHERE crawl_id = ${crawlId} AND host = ${host}`,
      );
      return true;
    });
  }

  finish(id: string, finish: CrawlFinish): Promise<boolean> {
    return this.#sqlite.transaction((transaction) => {
      const isFinished = transaction.hasRows(finished(id, finish));
      if (isFinished) transaction.run(deleteLanes(id));
      return isFinished;
    });
  }
}

interface Addition {
  pages: readonly NewPage[];
  at: number;
  /** The number of the first new page, and the bound of all numbers. */
  room: { first: number; max: number };
}

function addPages(transaction: Transaction, crawlId: string, { pages, at, room }: Addition): Added {
  let added = 0;
  let isFull = false;
  const lanes = new Map<string, number>();
  for (const { kind, key, url, host, depth } of pages) {
    const number = room.first + added;
    if (number >= room.max) {
      isFull ||= !transaction.hasRows(sql`SELECT 1 FROM crawl_pages WHERE crawl_id = ${crawlId} AND key = ${key}`);
      continue;
    }
    const isNew = transaction.hasRows(sql`INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth)
      VALUES (${crawlId}, ${number}, ${kind}, ${key}, ${url}, ${host}, ${depth})
      ON CONFLICT (crawl_id, key) DO NOTHING RETURNING number`);
    if (!isNew) continue;
    lanes.set(host, (lanes.get(host) ?? 0) + 1);
    added += 1;
  }
  transaction.run(sql`UPDATE crawls SET discovered = discovered + ${added} WHERE id = ${crawlId}`);
  for (const [host, count] of lanes) {
    transaction.run(sql`INSERT INTO crawl_lanes (crawl_id, host, waiting, ready_at)
      VALUES (${crawlId}, ${host}, ${count}, ${at})
      ON CONFLICT (crawl_id, host) DO UPDATE SET waiting = waiting + excluded.waiting`);
  }
  return { added, isFull };
}
