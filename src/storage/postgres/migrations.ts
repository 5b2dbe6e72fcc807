import { CRAWL_TAKE } from "./crawl-take.ts";
import { CRAWL_RETRIES, CRAWLS } from "./crawls.ts";
import { DAILY_SUMS, DAILY_SUMS_COUNTED } from "./daily-sums.ts";
import { LEDGER_COMMIT_PLAIN, LEDGER_PLAIN_TYPES } from "./ledger-commit-plain.ts";
import { LEDGER_COMMIT } from "./ledger-commit.ts";
import { LEDGER_OPERATION, LEDGER_OPERATION_PARKED, LEDGER_OPERATION_SERIES } from "./ledger-operation.ts";
import { LEDGER_PERIODS } from "./ledger-periods.ts";
import { LEDGER_WRITE } from "./ledger-write.ts";
import { LEDGER_BOOKS } from "./ledger-books.ts";
import {
  BOOKS,
  CLIENT_SECRETS,
  JOBS,
  PRICE_CATALOG,
  RESPONSES,
  STORED_BYTES,
  STORED_OBJECTS,
  TABLES,
  UPLOADED_FILES,
  VIDEOS,
  WEBHOOK_SECRETS,
} from "./tables.ts";
import { WEB_DOCUMENTS, WEB_MARKS } from "./web-documents.ts";

/** Each function is defined in one step only; an earlier definition is dropped. */
const WITHOUT_FUNCTIONS = `
  DROP FUNCTION IF EXISTS ledger_commit;
  DROP FUNCTION IF EXISTS ledger_commit_plain;
  DROP FUNCTION IF EXISTS ledger_period_start;
  DROP FUNCTION IF EXISTS ledger_period_end;
`;

/**
 * The schema, one step per element. A released step is never changed, except for functions: each is defined in the step
 * that changed it last. The fourth step contained only functions.
 *
 * Nodes of the previous version may run during and after the migration by a new node. The fifth step therefore replaces
 * `ledger_commit` and `ledger_write` by functions that those nodes can call too, and does not drop their
 * `ledger_commit_plain`: the new function has another name. The seventh step replaces the bodies of all these functions,
 * for nodes of both versions, and counts each record by a trigger, whichever function writes it. The function
 * `ledger_write` that a commit may be waiting to call stays: it has fewer parameters than the new one. The twentieth step
 * replaces `ledger_commit` and `ledger_write` once more; nodes of the previous version keep the plain function of the fifth
 * step, whose holds get their names from a trigger.
 */
export const migrations: readonly string[] = [
  TABLES,
  WITHOUT_FUNCTIONS + BOOKS + LEDGER_OPERATION + LEDGER_PERIODS,
  RESPONSES,
  "",
  JOBS + LEDGER_OPERATION_SERIES,
  STORED_OBJECTS,
  DAILY_SUMS + LEDGER_BOOKS + DAILY_SUMS_COUNTED,
  PRICE_CATALOG,
  WEBHOOK_SECRETS,
  VIDEOS,
  UPLOADED_FILES,
  CLIENT_SECRETS,
  STORED_BYTES,
  CRAWLS,
  WEB_DOCUMENTS,
  "",
  CRAWL_RETRIES,
  WEB_MARKS,
  CRAWL_TAKE,
  LEDGER_OPERATION_PARKED + LEDGER_PLAIN_TYPES + LEDGER_COMMIT + LEDGER_WRITE + LEDGER_COMMIT_PLAIN,
];
