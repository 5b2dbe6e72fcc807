import type { JsonObject } from "../../../core/index.ts";
import type { Parameter, Statements } from "../../../storage/index.ts";
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
  attemptsMax,
  burstMs,
  busyMs,
  type CrawlRow,
  deletedMax,
  type FailureRow,
  hostTtlMs,
  lanesPerPage,
  type NoteRow,
  pageColumns,
  type PageRow,
  parametersOf,
  type ResultRow,
  statementsWith,
  toCrawl,
  toLeasedPage,
  toNote,
  toPageFailure,
} from "./rows.ts";

const SQL = statementsWith((index) => `$${index}`, { ofCrawl: "", byLease: "" });

const TAKE = `SELECT ${pageColumns} FROM crawl_take($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

/** Crawls on Postgres. The functions are in the migrations. */
export class PostgresCrawlStore implements CrawlStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async insert(crawl: NewCrawl, activeMax: number): Promise<boolean> {
    return (await this.#statements.run(SQL.insert, parametersOf.insert(crawl, activeMax))).length > 0;
  }

  async find(id: string): Promise<Crawl | undefined> {
    return (await this.#crawls(SQL.find, [id]))[0];
  }

  async rewrite(id: string, request: JsonObject): Promise<void> {
    await this.#statements.run(SQL.rewrite, [id, JSON.stringify(request)]);
  }

  active(owner: string): Promise<Crawl[]> {
    return this.#crawls(SQL.active, [owner]);
  }

  async add(crawlId: string, pages: readonly NewPage[], at: number, discoveredMax: number): Promise<Added> {
    const columns = (["kind", "key", "url", "host"] as const).map((name) => pages.map((page) => page[name]));
    const depths = pages.map(({ depth }) => String(depth));
    const [row] = await this.#statements.run<{ added: bigint; is_full: boolean }>(
      "SELECT added, is_full FROM crawl_add($1, $2, $3, $4, $5, $6::text[]::bigint[], $7, $8)",
      [crawlId, ...columns, depths, at, discoveredMax],
    );
    return { added: Number(row?.added ?? 0n), isFull: row?.is_full === true };
  }

  async take({ lease, at, pagesMax, ownerShare, politeness }: TakeRequest): Promise<LeasedPage[]> {
    const { connectionsMax, intervalMs } = politeness;
    const rows = await this.#statements.run<PageRow>(TAKE, [
      lease.token,
      lease.until,
      at,
      pagesMax,
      connectionsMax,
      intervalMs,
      attemptsMax,
      busyMs,
      burstMs,
      pagesMax * lanesPerPage,
      ownerShare ?? null,
    ]);
    return rows.map((row) => toLeasedPage(row, lease.token));
  }

  async renew(token: string, until: number): Promise<string[]> {
    if ((await this.#statements.run(SQL.renew, [token, until])).length === 0) return [];
    return (await this.#statements.run<{ id: string }>(SQL.running, [token])).map(({ id }) => id);
  }

  async fetched(page: LeasedPage, { content, work, digest }: FetchedPage): Promise<Storing> {
    const [row] = await this.#statements.run<{ outcome: Storing }>(
      "SELECT crawl_fetched($1, $2, $3, $4, $5, $6, $7, $8) AS outcome",
      [...parametersOf.leased(page), JSON.stringify(work), content, content.byteLength, digest ?? null],
    );
    return row?.outcome ?? "lost";
  }

  async repeats({ crawlId, number }: LeasedPage, digest: string): Promise<boolean> {
    return (await this.#statements.run(SQL.repeats, [crawlId, digest, number])).length > 0;
  }

  async leased(crawlId: string): Promise<number> {
    const [row] = await this.#statements.run<{ count: bigint }>(SQL.leased, [crawlId]);
    return Number(row?.count ?? 0n);
  }

  end(page: LeasedPage, end: PageEnd, at: number): Promise<boolean> {
    return this.#done("crawl_end($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", [
      ...parametersOf.leased(page),
      ...parametersOf.end(end),
      page.host,
      at,
    ]);
  }

  giveBack(page: LeasedPage, readyAt: number): Promise<boolean> {
    return this.#done("crawl_give_back($1, $2, $3, $4, $5, $6)", [...parametersOf.leased(page), page.host, readyAt]);
  }

  async pace(host: string, intervalMs: number, at: number): Promise<void> {
    await this.#statements.run(SQL.pace, [host, intervalMs, at]);
  }

  async rest(host: string, until: number): Promise<void> {
    await this.#statements.run(SQL.rest, [host, until]);
  }

  async note(crawlId: string, note: Omit<CrawlNote, "count">): Promise<void> {
    await this.#statements.run(SQL.note, parametersOf.note(crawlId, note));
  }

  exhausted(at: number): Promise<Crawl[]> {
    return this.#crawls(SQL.exhausted, [at]);
  }

  overdue(at: number): Promise<Crawl[]> {
    return this.#crawls(SQL.overdue, [at]);
  }

  async content({ crawlId, number }: PageId): Promise<Uint8Array | undefined> {
    const [row] = await this.#statements.run<{ content: Uint8Array }>(SQL.content, [crawlId, number]);
    return row?.content;
  }

  async finish(id: string, finish: CrawlFinish): Promise<boolean> {
    const rows = await this.#statements.run(
      `WITH ended AS (${SQL.finish}), gone AS (DELETE FROM crawl_lanes WHERE crawl_id IN (SELECT id FROM ended))
        SELECT id FROM ended`,
      parametersOf.finish(id, finish),
    );
    return rows.length > 0;
  }

  async results(id: string, { from, countMax, bytesMax }: ResultRange): Promise<StoredResult[]> {
    const rows = await this.#statements.run<ResultRow>(SQL.results, [id, from, countMax, bytesMax]);
    return rows.map(({ position, content }) => ({ position: Number(position), content }));
  }

  async failures(id: string, countMax: number): Promise<PageFailure[]> {
    return (await this.#statements.run<FailureRow>(SQL.failures, [id, countMax])).map(toPageFailure);
  }

  async notes(id: string): Promise<CrawlNote[]> {
    return (await this.#statements.run<NoteRow>(SQL.notes, [id])).map(toNote);
  }

  oversized(bytesMax: number): Promise<Crawl[]> {
    return this.#crawls(SQL.oversized, [bytesMax]);
  }

  async makeRoom({ id, owner }: Pick<Crawl, "id" | "owner">, bytesMax: number, at: number): Promise<void> {
    await this.#statements.run(SQL.makeRoom, [id, owner, bytesMax, at]);
  }

  async deleteExpired(at: number): Promise<boolean> {
    await this.#statements.run(SQL.deleteHosts, [at - hostTtlMs]);
    const [crawl] = await this.#statements.run<{ id: string }>(SQL.expired, [at]);
    if (crawl === undefined) return false;
    await this.#statements.run(SQL.deleteLanes, [crawl.id]);
    for (const statement of [SQL.deleteResults, SQL.deletePages]) {
      const counted = `WITH gone AS (${statement} RETURNING 1) SELECT count(*) AS count FROM gone`;
      const [row] = await this.#statements.run<{ count: bigint }>(counted, [crawl.id, deletedMax]);
      if (Number(row?.count ?? 0n) === deletedMax) return true;
    }
    await this.#statements.run(SQL.deleteNotes, [crawl.id]);
    await this.#statements.run(SQL.deleteCrawl, [crawl.id]);
    return true;
  }

  async #crawls(statement: string, parameters: readonly Parameter[]): Promise<Crawl[]> {
    return (await this.#statements.run<CrawlRow>(statement, parameters)).map(toCrawl);
  }

  async #done(call: string, parameters: readonly Parameter[]): Promise<boolean> {
    const [row] = await this.#statements.run<{ done: boolean }>(`SELECT ${call} AS done`, parameters);
    return row?.done === true;
  }
}
