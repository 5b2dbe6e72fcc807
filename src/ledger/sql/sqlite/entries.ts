import type { Nano } from "../../../core/index.ts";
import type { GenerationColumns } from "../generations.ts";
import { CallsByOwner } from "./calls-by-owner.ts";
import type { CallValues, EntryKind, EntryRow, LedgerStatements } from "./statements.ts";

export interface Entry {
  id: string;
  kind: EntryKind;
  debit: string;
  credit: string;
  amount: Nano;
  held: Nano;
  shortfall: Nano;
  at: number;
}

/** Text that JavaScript and SQLite put in the same order. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The books, and what they tell of the calls whose ends are in them. */
export class Entries {
  readonly #sql: LedgerStatements;
  readonly #callsByOwner: CallsByOwner;
  /** An id that none is behind; undefined where it must be read. */
  #last: string | undefined;
  /** The number of the last one that this transaction has appended. */
  #appended: bigint | undefined;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
    this.#callsByOwner = new CallsByOwner(sql);
  }

  /** Forgets what is in memory. */
  clear(): void {
    this.#last = undefined;
    this.#appended = undefined;
    this.#callsByOwner.clear();
  }

  find(id: string): EntryRow | undefined {
    return this.#sql.entry.get(id) ?? undefined;
  }

  /** Ids of requests begin with their moment, so that a new one mostly is behind all that have ended: no look is needed. */
  has(id: string): boolean {
    this.#last ??= this.#sql.lastEntry.get()?.id ?? "";
    if (id > this.#last && PRINTABLE_ASCII.test(id)) return false;
    return this.#sql.entry.get(id) !== null;
  }

  /** Appends an entry, with what it tells of the call that it ends. */
  insert({ id, kind, debit, credit, amount, held, shortfall, at }: Entry, call?: GenerationColumns): void {
    const values = call === undefined ? NO_CALL : callValues(call);
    const { lastInsertRowid } = this.#sql.insertEntry.run(
      id,
      kind,
      debit,
      credit,
      amount,
      held,
      shortfall,
      at,
      ...values,
    );
    this.#appended = BigInt(lastInsertRowid);
    if (this.#last !== undefined && id > this.#last) this.#last = id;
  }

  /** Writes a call's own record in place of what its expiry wrote, and what it cost in all. */
  replaceCall({ number }: EntryRow, call: GenerationColumns, credits: Nano): void {
    this.#callsByOwner.rewrite(number, () => this.#sql.replaceCall.run(...callValues(call), credits, number));
  }

  correctCredits({ number }: EntryRow, credits: Nano): void {
    this.#sql.correctCredits.run(credits, number);
  }

  /** To be called last within a transaction. */
  flush(): void {
    if (this.#appended !== undefined) this.#callsByOwner.fill(this.#appended);
    this.#appended = undefined;
  }
}

const NO_CALL: CallValues = [null, null, null, null, null, null, null, null, null, null, null, null, null, null, null];

function callValues(call: GenerationColumns): CallValues {
  return [
    call.owner,
    call.operation,
    call.dialect,
    call.provider,
    call.model,
    call.streamed ? 1 : 0,
    call.status,
    call.outcome,
    call.usage,
    call.input_tokens,
    call.output_tokens,
    call.ms,
    call.first_byte_ms,
    call.started_at,
    call.parent,
  ];
}
