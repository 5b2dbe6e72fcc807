import { Calendar } from "../../../core/index.ts";
import type { Parameter, PostgresStorage, Statements } from "../../../storage/index.ts";
import { plainCommit } from "./plain-commit-function.ts";
import {
  type Account,
  type AccountKind,
  type AccountState,
  type BudgetPeriod,
  changedPeriod,
  periodStart,
} from "../../accounts.ts";
import type { AuditReport } from "../../books.ts";
import type { Hold, StoredAnswer, LedgerOperation, LedgerOutcome } from "../../operations.ts";
import type { ClaimedKey, LedgerStore, OpenHold } from "../../store.ts";
import { type AnswerColumns, lookedUp, type RetryKeyColumns, storedAnswerOf } from "../answers.ts";
import { type HoldRow, toOpenHold } from "../rows.ts";
import { type AnsweredOutcome, batchParameters, type CommitRow, toOutcomes } from "./batch.ts";
import { PostgresBooks } from "./books.ts";
import { storable } from "./columns.ts";
import { LedgerCache } from "./ledger-cache.ts";
import { PlainBatch, type PlainAnswer } from "./plain-batch.ts";

const COMMIT = "SELECT * FROM ledger_commit($1, $2, $3)";

const COMMIT_PLAIN = `SELECT ${plainCommit}($1, $2, $3, $4, $5, $6, $7, $8, $9) AS answer`;

const KEPT_ANSWER = `
  SELECT status, headers, body FROM retry_keys
  WHERE account_id = $1 AND key = $2 AND hold_id = $3 AND status IS NOT NULL`;

const RETRY_KEY = `
  SELECT k.*, EXISTS (SELECT FROM holds h WHERE h.id = k.hold_id) AS running FROM retry_keys k
  WHERE k.account_id = $1 AND k.key = $2`;

const INSERT_ACCOUNT = `
  INSERT INTO accounts (id, kind, name, parent_id, prepaid, max_budget, period, created_at, markup)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (id)`;

const CREATE_ACCOUNT = `${INSERT_ACCOUNT} DO NOTHING`;

/** Whether another period is put that restarts. */
const BEGINS_ANEW = `excluded.period IS NOT NULL AND excluded.period IS DISTINCT FROM accounts.period
  AND $10 > accounts.period_start`;

const PUT_ACCOUNT = `${INSERT_ACCOUNT}
  DO UPDATE SET prepaid = excluded.prepaid, max_budget = excluded.max_budget, period = excluded.period,
    markup = excluded.markup, period_start = CASE WHEN ${BEGINS_ANEW} THEN $11 ELSE accounts.period_start END,
    period_debits = CASE WHEN ${BEGINS_ANEW} THEN 0 ELSE accounts.period_debits END`;

const CHAIN = `
  SELECT a.* FROM accounts first, unnest(first.chain) WITH ORDINALITY AS link (id, level)
  JOIN accounts a ON a.id = link.id COLLATE "C"
  WHERE first.id = $1 ORDER BY link.level`;

/**
 * The ledger on Postgres. A commit is one call of a function: one statement and one transaction, which locks the
 * accounts that it changes. Limits are therefore exact even if many nodes commit simultaneously.
 */
export class PostgresLedgerStore implements LedgerStore {
  readonly calendar: Calendar;
  readonly books: PostgresBooks;
  readonly #statements: Statements;
  readonly #commits: Statements;
  readonly #memory = new LedgerCache();

  constructor({ statements, commits, timezone }: Pick<PostgresStorage, "statements" | "commits" | "timezone">) {
    this.calendar = new Calendar(timezone);
    this.books = new PostgresBooks(statements, this.calendar);
    this.#statements = statements;
    this.#commits = commits;
  }

  async commit(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    if (operations.length === 0) return [];
    const outcomes = (await this.#commitPlain(operations)) ?? (await this.#commitAny(operations));
    this.#memory.learn(operations, outcomes);
    return outcomes;
  }

  /** Undefined if the batch is not plain: then nothing was done. */
  async #commitPlain(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[] | undefined> {
    const batch = PlainBatch.of(operations, this.#memory);
    if (batch === undefined) return undefined;
    const [row] = await this.#commits.run<{ answer: PlainAnswer | null }>(COMMIT_PLAIN, batch.parameters());
    const answer = row?.answer ?? undefined;
    return answer && batch.outcomes(answer);
  }

  async #commitAny(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    const parameters = batchParameters(operations, this.#memory);
    const links = this.#memory.linksOf(operations) ?? null;
    let [row] = await this.#commits.run<CommitRow>(COMMIT, [...parameters, links]);
    if (row?.outcomes === null) [row] = await this.#commits.run<CommitRow>(COMMIT, [...parameters, null]);
    if (row === undefined) throw new Error("ledger_commit gave no row");
    if (row.link_ids !== null && row.parent_ids !== null) this.#memory.learnChains(row.link_ids, row.parent_ids);
    return this.#withAnswers(operations, toOutcomes(operations, row));
  }

  /**
   * Fetches the stored answers that are missing from the outcomes: of several holds with one key, and of many large
   * answers, only some are included.
   */
  async #withAnswers(
    operations: readonly LedgerOperation[],
    outcomes: readonly AnsweredOutcome[],
  ): Promise<LedgerOutcome[]> {
    const answers = new Map<string, StoredAnswer>();
    const complete: LedgerOutcome[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.outcome !== "replayed") {
        complete.push(outcome);
        continue;
      }
      const hold = operations[index];
      if (hold?.kind !== "hold") throw new Error("ledger_commit replayed what is no hold");
      const { id } = outcome;
      const answer = outcome.answer ?? answers.get(id) ?? (await this.#storedAnswerOf(hold, id));
      if (answer !== undefined) answers.set(id, answer);
      // Deleted in the meantime: the key is new.
      complete.push(...(answer === undefined ? await this.#commitAny([hold]) : [{ ...outcome, answer }]));
    }
    return complete;
  }

  async #storedAnswerOf({ accountId, retry }: Hold, id: string): Promise<StoredAnswer | undefined> {
    const [row] = await this.#commits.run<AnswerColumns>(KEPT_ANSWER, [accountId, storable(retry?.key ?? ""), id]);
    return row && storedAnswerOf(row);
  }

  async takenKey({ accountId, retry, at }: ClaimedKey): ReturnType<LedgerStore["takenKey"]> {
    if (retry === undefined) return undefined;
    const [row] = await this.#statements.run<RetryKeyColumns>(RETRY_KEY, [accountId, storable(retry.key)]);
    return row && lookedUp(row, retry.fingerprint, at);
  }

  async createAccount(account: Account, at: number): Promise<void> {
    await this.#statements.run(CREATE_ACCOUNT, accountValues(account, at));
  }

  async putAccount(account: Account, at: number): Promise<void> {
    const { start, natural } = changedPeriod(account.period, at, this.calendar);
    await this.#statements.run(PUT_ACCOUNT, [...accountValues(account, at), natural, start]);
  }

  async chain(accountId: string, at: number): Promise<AccountState[]> {
    const rows = await this.#statements.run<AccountRow>(CHAIN, [accountId]);
    return rows.map((row) => toAccountState(row, at, this.calendar));
  }

  async listAccounts(at: number): Promise<AccountState[]> {
    const rows = await this.#statements.run<AccountRow>("SELECT * FROM accounts ORDER BY id");
    return rows.map((row) => toAccountState(row, at, this.calendar));
  }

  async openHolds(): Promise<OpenHold[]> {
    const rows = await this.#statements.run<HoldRow>("SELECT * FROM holds ORDER BY created_at, id");
    return rows.map(toOpenHold);
  }

  audit(): Promise<AuditReport> {
    return this.books.audit();
  }
}

function accountValues(account: Account, at: number): Parameter[] {
  const { id, kind, name, parentId, prepaid, maxBudget, period, markup } = account;
  return [id, kind, name, parentId ?? null, prepaid, maxBudget ?? null, period ?? null, at, markup ?? null];
}

interface AccountRow {
  id: string;
  kind: AccountKind;
  name: string;
  parent_id: string | null;
  prepaid: boolean;
  max_budget: bigint | null;
  period: BudgetPeriod | null;
  markup: bigint | null;
  credits_posted: bigint;
  debits_posted: bigint;
  debits_pending: bigint;
  period_start: bigint;
  period_debits: bigint;
}

/** Spending of an earlier period no longer counts. */
function toAccountState(row: AccountRow, at: number, calendar: Calendar): AccountState {
  const period = row.period ?? undefined;
  const isNewPeriod = period !== undefined && periodStart(period, at, calendar) > Number(row.period_start);
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    parentId: row.parent_id ?? undefined,
    prepaid: row.prepaid,
    maxBudget: row.max_budget ?? undefined,
    period,
    markup: row.markup === null ? undefined : Number(row.markup),
    creditsPosted: row.credits_posted,
    debitsPosted: row.debits_posted,
    debitsPending: row.debits_pending,
    periodDebits: isNewPeriod ? 0n : row.period_debits,
  };
}
