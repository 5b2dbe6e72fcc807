import { column, sql, type SqlRow, type SqlRunner, tableOf } from "../../../storage/index.ts";
import type { CrawlNote, PageFailure, PageId, ResultRange, StoredResult } from "../store.ts";
import { failures, messageText, notes, pageStates, results } from "./rows.ts";

const contents = tableOf({ content: column.bytes });

/** What came of the pages of crawls: results, failures, and notes about omissions. */
export abstract class SqlCrawlResults {
  protected readonly sql: SqlRunner;

  constructor(runner: SqlRunner) {
    this.sql = runner;
  }

  note(crawlId: string, { code, url, message, at }: Omit<CrawlNote, "count">): Promise<void> {
    return this.sql.run(sql`INSERT INTO crawl_notes (crawl_id, code, url, message, noted_at, count)
      SELECT ${crawlId}, ${code}, ${url}, ${messageText(message)}, ${at}, 1
      WHERE EXISTS (SELECT 1 FROM crawls WHERE id = ${crawlId})
      ON CONFLICT (crawl_id, code) DO UPDATE SET count = crawl_notes.count + 1`);
  }

  async content({ crawlId, number }: PageId): Promise<Uint8Array | undefined> {
    const content = sql`SELECT content FROM crawl_results WHERE crawl_id = ${crawlId} AND number = ${number}`;
    return (await this.sql.first(content, contents.read))?.content;
  }

  results(id: string, { from, countMax, bytesMax }: ResultRange): Promise<StoredResult[]> {
    return this.sql.rows(
      sql`SELECT ${results.names} FROM (
          SELECT p.position, p.number AS page_number, sum(p.bytes) OVER (ORDER BY p.position ROWS UNBOUNDED PRECEDING) AS total
          FROM crawl_pages p WHERE p.crawl_id = ${id} AND p.position >= ${from} AND p.position < ${from + countMax}
        ) AS listed JOIN crawl_results r ON r.crawl_id = ${id} AND r.number = listed.page_number
        WHERE total <= ${bytesMax} OR position = ${from} ORDER BY position`,
      results.read,
    );
  }

  failures(id: string, countMax: number): Promise<PageFailure[]> {
    return this.sql.rows(
      sql`SELECT ${failures.names} FROM crawl_pages
        WHERE crawl_id = ${id} AND failure_code IS NOT NULL ORDER BY number LIMIT ${countMax}`,
      toFailure,
    );
  }

  failedPage(id: string, index: number): Promise<PageFailure | undefined> {
    return this.sql.first(
      sql`SELECT ${failures.names} FROM crawl_pages WHERE crawl_id = ${id} AND position = ${-1 - index}`,
      toFailure,
    );
  }

  notes(id: string): Promise<CrawlNote[]> {
    return this.sql.rows(
      sql`SELECT ${notes.names} FROM crawl_notes WHERE crawl_id = ${id} ORDER BY noted_at, code`,
      notes.read,
    );
  }
}

function toFailure(row: SqlRow): PageFailure {
  const { state, ...failure } = failures.read(row);
  return { ...failure, isBlocked: state === pageStates.blocked };
}
