import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { JsonObject } from "../../../core/index.ts";
import type {
  Added,
  Crawl,
  CrawlFinish,
  CrawlNote,
  CrawlStore,
  FetchedPage,
  LeasedPage,
  NewCrawl,
  NewPage,
  PageEnd,
  PageFailure,
  PageId,
  ResultRange,
  StoredResult,
  Storing,
  TakeRequest,
} from "../store.ts";
import {
  type CrawlRow,
  deletedMax,
  type FailureRow,
  hostTtlMs,
  type NoteRow,
  pageStates,
  parametersOf,
  type ResultRow,
  statementsWith,
  toCrawl,
  toNote,
  toPageFailure,
} from "./rows.ts";
import { takePages } from "./sqlite-take.ts";

const SQL = statementsWith((index) => `?${index}`, {
  ofCrawl: "INDEXED BY crawl_pages_of_crawl",
  byLease: "INDEXED BY crawl_pages_by_lease",
});
const { waiting, running, fetched, done, failed, skipped } = pageStates;

const LEASED = "crawl_id = ?1 AND number = ?2 AND lease_token = ?3 AND attempts = ?4";

const ADD = `INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
  ON CONFLICT (crawl_id, key) DO NOTHING`;

const ADD_LANE = `INSERT INTO crawl_lanes (crawl_id, host, waiting, ready_at) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (crawl_id, host) DO UPDATE SET waiting = waiting + excluded.waiting`;

const PUT_RESULT = `INSERT INTO crawl_results (crawl_id, number, content) VALUES (?1, ?2, ?3)
  ON CONFLICT (crawl_id, number) DO UPDATE SET content = excluded.content`;

/** Another page of the host may start, unless the crawl pauses between them. */
const WAKE_LANE = `UPDATE crawl_lanes SET ready_at = ?3 WHERE crawl_id = ?1 AND host = ?2 AND ready_at > ?3
  AND (SELECT delay_ms FROM crawls WHERE id = ?1) = 0`;

/** Crawls on SQLite. */
export class SqliteCrawlStore implements CrawlStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert(crawl: NewCrawl, activeMax: number): Promise<boolean> {
    return Promise.resolve(this.#rows(SQL.insert, parametersOf.insert(crawl, activeMax)).length > 0);
  }

  find(id: string): Promise<Crawl | undefined> {
    return Promise.resolve(this.#rows<CrawlRow>(SQL.find, [id]).map(toCrawl)[0]);
  }

  rewrite(id: string, request: JsonObject): Promise<void> {
    return this.#run(SQL.rewrite, [id, JSON.stringify(request)]);
  }

  active(owner: string): Promise<Crawl[]> {
    return Promise.resolve(this.#rows<CrawlRow>(SQL.active, [owner]).map(toCrawl));
  }

  add(crawlId: string, pages: readonly NewPage[], at: number, discoveredMax: number): Promise<Added> {
    return Promise.resolve(this.#inTransaction(() => this.#add(crawlId, pages, at, discoveredMax)));
  }

  #add(crawlId: string, pages: readonly NewPage[], at: number, discoveredMax: number): Added {
    const crawl = this.#rows<{ discovered: bigint }>(
      "SELECT discovered FROM crawls WHERE id = ?1 AND state = 'scraping'",
      [crawlId],
    )[0];
    if (crawl === undefined) return { added: 0, isFull: false };
    const discovered = Number(crawl.discovered);
    let added = 0;
    let isFull = false;
    const lanes = new Map<string, number>();
    const insert = this.#database.query(ADD);
    for (const { kind, key, url, host, depth } of pages) {
      if (discovered + added >= discoveredMax) {
        const known = this.#rows("SELECT 1 FROM crawl_pages WHERE crawl_id = ?1 AND key = ?2", [crawlId, key]);
        isFull ||= known.length === 0;
      } else if (insert.run(crawlId, discovered + added, kind, key, url, host, depth).changes > 0) {
        lanes.set(host, (lanes.get(host) ?? 0) + 1);
        added += 1;
      }
    }
    this.#database.query("UPDATE crawls SET discovered = discovered + ?2 WHERE id = ?1").run(crawlId, added);
    for (const [host, count] of lanes) this.#database.query(ADD_LANE).run(crawlId, host, count, at);
    return { added, isFull };
  }

  take(request: TakeRequest): Promise<LeasedPage[]> {
    return Promise.resolve(takePages(this.#database, request));
  }

  renew(token: string, until: number): Promise<string[]> {
    if (this.#rows(SQL.renew, [token, until]).length === 0) return Promise.resolve([]);
    return Promise.resolve(this.#rows<{ id: string }>(SQL.running, [token]).map(({ id }) => id));
  }

  fetched(page: LeasedPage, { content, work, digest }: FetchedPage): Promise<Storing> {
    const stored = this.#onDisk((): Storing => {
      if (digest !== undefined && this.#rows(SQL.repeats, [page.crawlId, digest, page.number]).length > 0) {
        return "duplicate";
      }
      const statement = `UPDATE crawl_pages SET state = ${fetched}, work = ?5, bytes = ?6, digest = ?7
        WHERE ${LEASED} AND state = ${running}
          AND EXISTS (SELECT 1 FROM crawls WHERE id = ?1 AND state = 'scraping') RETURNING number`;
      const values = [...parametersOf.leased(page), JSON.stringify(work), content.byteLength, digest ?? null];
      if (this.#rows(statement, values).length === 0) return "lost";
      this.#database.query(PUT_RESULT).run(page.crawlId, page.number, content);
      return "stored";
    });
    return Promise.resolve(stored);
  }

  repeats({ crawlId, number }: LeasedPage, digest: string): Promise<boolean> {
    return Promise.resolve(this.#rows(SQL.repeats, [crawlId, digest, number]).length > 0);
  }

  leased(crawlId: string): Promise<number> {
    const [row] = this.#rows<{ count: bigint }>(SQL.leased, [crawlId]);
    return Promise.resolve(Number(row?.count ?? 0n));
  }

  end(page: LeasedPage, end: PageEnd, at: number): Promise<boolean> {
    const [state, code, message, credits] = parametersOf.end(end);
    const ended = this.#inTransaction(() => {
      const statement = `UPDATE crawl_pages SET state = ?5, failure_code = ?6, failure = ?7, ended_at = ?8, work = NULL,
          lease_token = NULL, lease_until = NULL,
          position = CASE WHEN ?5 = ${done} THEN (SELECT completed FROM crawls WHERE id = ?1) END
        WHERE ${LEASED} RETURNING bytes`;
      const [row] = this.#rows<{ bytes: bigint }>(statement, [...parametersOf.leased(page), state, code, message, at]);
      if (row === undefined) return false;
      const count = state === done ? "completed" : state === failed ? "failed" : "skipped";
      this.#database
        .query(`UPDATE crawls SET ${count} = ${count} + 1, credits = credits + ?2, bytes = bytes + ?3 WHERE id = ?1`)
        .run(page.crawlId, credits, state === done ? row.bytes : 0n);
      this.#database.query(WAKE_LANE).run(page.crawlId, page.host, at);
      return true;
    });
    return Promise.resolve(ended);
  }

  giveBack(page: LeasedPage, readyAt: number): Promise<boolean> {
    const returned = this.#inTransaction(() => {
      const isOver =
        this.#rows("SELECT 1 FROM crawls WHERE id = ?1 AND state = 'scraping'", [page.crawlId]).length === 0;
      const statement = `UPDATE crawl_pages SET state = ?5, attempts = attempts - 1, lease_token = NULL, lease_until = NULL
        WHERE ${LEASED} AND state = ${running} RETURNING number`;
      const rows = this.#rows(statement, [...parametersOf.leased(page), isOver ? skipped : waiting]);
      if (rows.length === 0) return false;
      if (isOver) this.#database.query("UPDATE crawls SET skipped = skipped + 1 WHERE id = ?1").run(page.crawlId);
      else {
        this.#database
          .query(
            "UPDATE crawl_lanes SET waiting = waiting + 1, ready_at = max(ready_at, ?3) WHERE crawl_id = ?1 AND host = ?2",
          )
          .run(page.crawlId, page.host, readyAt);
      }
      return true;
    });
    return Promise.resolve(returned);
  }

  pace(host: string, intervalMs: number, at: number): Promise<void> {
    return this.#run(SQL.pace, [host, intervalMs, at]);
  }

  rest(host: string, until: number): Promise<void> {
    return this.#run(SQL.rest, [host, until]);
  }

  note(crawlId: string, note: Omit<CrawlNote, "count">): Promise<void> {
    return this.#run(SQL.note, parametersOf.note(crawlId, note));
  }

  exhausted(at: number): Promise<Crawl[]> {
    return Promise.resolve(this.#rows<CrawlRow>(SQL.exhausted, [at]).map(toCrawl));
  }

  overdue(at: number): Promise<Crawl[]> {
    return Promise.resolve(this.#rows<CrawlRow>(SQL.overdue, [at]).map(toCrawl));
  }

  content({ crawlId, number }: PageId): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#rows<{ content: Uint8Array }>(SQL.content, [crawlId, number])[0]?.content);
  }

  finish(id: string, finish: CrawlFinish): Promise<boolean> {
    const finished = this.#inTransaction(() => {
      if (this.#rows(SQL.finish, parametersOf.finish(id, finish)).length === 0) return false;
      this.#database.query(SQL.deleteLanes).run(id);
      return true;
    });
    return Promise.resolve(finished);
  }

  results(id: string, { from, countMax, bytesMax }: ResultRange): Promise<StoredResult[]> {
    const rows = this.#rows<ResultRow>(SQL.results, [id, from, countMax, bytesMax]);
    return Promise.resolve(rows.map(({ position, content }) => ({ position: Number(position), content })));
  }

  failures(id: string, countMax: number): Promise<PageFailure[]> {
    return Promise.resolve(this.#rows<FailureRow>(SQL.failures, [id, countMax]).map(toPageFailure));
  }

  notes(id: string): Promise<CrawlNote[]> {
    return Promise.resolve(this.#rows<NoteRow>(SQL.notes, [id]).map(toNote));
  }

  oversized(bytesMax: number): Promise<Crawl[]> {
    return Promise.resolve(this.#rows<CrawlRow>(SQL.oversized, [bytesMax]).map(toCrawl));
  }

  makeRoom({ id, owner }: Pick<Crawl, "id" | "owner">, bytesMax: number, at: number): Promise<void> {
    return this.#run(SQL.makeRoom, [id, owner, bytesMax, at]);
  }

  deleteExpired(at: number): Promise<boolean> {
    this.#database.query(SQL.deleteHosts).run(at - hostTtlMs);
    const [crawl] = this.#rows<{ id: string }>(SQL.expired, [at]);
    if (crawl === undefined) return Promise.resolve(false);
    this.#inTransaction(() => {
      this.#database.query(SQL.deleteLanes).run(crawl.id);
      for (const statement of [SQL.deleteResults, SQL.deletePages]) {
        if (this.#database.query(statement).run(crawl.id, deletedMax).changes === deletedMax) return;
      }
      this.#database.query(SQL.deleteNotes).run(crawl.id);
      this.#database.query(SQL.deleteCrawl).run(crawl.id);
    });
    return Promise.resolve(true);
  }

  /**
   * A transaction whose commit waits for the disk. The charge of the page comes next, in another file: after a power failure it
   * must not be there without the page's result, since the page would be read and charged again.
   */
  #onDisk<T>(work: () => T): T {
    const [before] = this.#rows<{ synchronous: bigint }>("PRAGMA synchronous", []);
    this.#database.run("PRAGMA synchronous = FULL");
    try {
      return this.#inTransaction(work);
    } finally {
      this.#database.run(`PRAGMA synchronous = ${before?.synchronous ?? 1n}`);
    }
  }

  #inTransaction<T>(work: () => T): T {
    return this.#database.transaction(work).immediate();
  }

  #rows<Row = object>(statement: string, parameters: SQLQueryBindings[]): Row[] {
    return this.#database.query<Row, SQLQueryBindings[]>(statement).all(...parameters);
  }

  #run(statement: string, parameters: SQLQueryBindings[]): Promise<void> {
    this.#database.query(statement).run(...parameters);
    return Promise.resolve();
  }
}
