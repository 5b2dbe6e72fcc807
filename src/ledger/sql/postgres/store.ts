import { Calendar } from "../../../core/index.ts";
import type { PostgresStorage, SqlRow, Statement, Statements } from "../../../storage/index.ts";
import { plainCommit } from "./plain-commit-function.ts";
import type { Account, AccountState } from "../../accounts.ts";
import type { AuditReport } from "../../books.ts";
import type { Hold, StoredAnswer, LedgerOperation, LedgerOutcome } from "../../operations.ts";
import type { ClaimedKey, LedgerStore, OpenHold } from "../../store.ts";
import { createAccount, putAccount, readAccountState } from "../account-statements.ts";
import { type AnswerColumns, lookedUp, type RetryKeyColumns, storedAnswerOf } from "../answers.ts";
import { type HoldRow, toOpenHold } from "../rows.ts";
import { type AnsweredOutcome, batchParameters, type CommitRow, toOutcomes } from "./batch.ts";
import { PostgresBooks } from "./books.ts";
import { storable } from "./columns.ts";
import { LedgerCache } from "./ledger-cache.ts";
import { PlainBatch, type PlainAnswer } from "./plain-batch.ts";

const COMMIT = "SELECT * FROM ledger_commit($1, $2, $3)";

/** A commit finds out that its accounts have got another budget when it has waited for them: several may be made one after the other. */
const TRIES_MAX = 20;

const COMMIT_PLAIN = `SELECT ${plainCommit}($1, $2, $3, $4, $5, $6, $7, $8, $9) AS answer`;

const KEPT_ANSWER = `
  SELECT status, headers, body FROM retry_keys
  WHERE account_id = $1 AND key = $2 AND hold_id = $3 AND status IS NOT NULL`;

const RETRY_KEY = `
  SELECT k.*, EXISTS (SELECT FROM holds h WHERE h.id = k.hold_id) AS running FROM retry_keys k
  WHERE k.account_id = $1 AND k.key = $2`;

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
    for (let tries = 1; row?.outcomes === null && tries < TRIES_MAX; tries += 1)
      [row] = await this.#commits.run<CommitRow>(COMMIT, [...parameters, null]);
    if (row === undefined) throw new Error("ledger_commit gave no row");
    if (row.link_ids !== null && row.parent_ids !== null) this.#memory.learnChains(row.link_ids, row.parent_ids);
    for (const [index, operation] of operations.entries())
      if (operation.kind === "hold" && row.outcomes?.[index] === "held")
        this.#memory.learnBudgeted(operation.accountId, row.names[index] === "budgets");
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
    const [row] = await this.#statements.run<RetryKeyColumns>(RETRY_KEY, [accountId, storable(retry.key)]);
    return row && lookedUp(row, retry.fingerprint, at);
  }

  async createAccount(account: Account, at: number): Promise<void> {
    await this.#run(createAccount(account, at));
  }

  async putAccount(account: Account, at: number): Promise<void> {
    await this.#run(putAccount(account, at, this.calendar));
  }

  async #run({ template, values }: Statement): Promise<void> {
    await this.#statements.run(template.textFor("postgres"), values);
  }

  async chain(accountId: string, at: number): Promise<AccountState[]> {
    const rows = await this.#statements.run<SqlRow>(CHAIN, [accountId]);
    return rows.map((row) => readAccountState(row, at, this.calendar));
  }

  async listAccounts(at: number): Promise<AccountState[]> {
    const rows = await this.#statements.run<SqlRow>("SELECT * FROM accounts ORDER BY id");
    return rows.map((row) => readAccountState(row, at, this.calendar));
  }

  async openHolds(): Promise<OpenHold[]> {
    const rows = await this.#statements.run<HoldRow>("SELECT * FROM holds ORDER BY created_at, id");
    return rows.map(toOpenHold);
  }

  audit(): Promise<AuditReport> {
    return this.books.audit();
  }
}
