/** One act, as the log keeps it. Times are milliseconds since the epoch. */
export interface AuditRow {
  /** Counted from 1, without gaps. */
  number: number;
  at: number;
  /** `cli:NAME` of the operating system's user, `token:ID`, `sandbox`. */
  actor: string;
  /** The kind of the changed thing, and the kind of change: `user.change`. */
  act: string;
  /** The changed thing: `user:alice`. */
  target: string;
  /** The network address that the request came from. */
  address: string | undefined;
  requestId: string | undefined;
  reason: string | undefined;
  /** JSON, never with a secret; undefined of a new thing. */
  before: string | undefined;
  /** Undefined of a deleted thing. */
  after: string | undefined;
  /** Of this row and `hash` of the one before it. */
  hash: string;
}

/**
 * The hash of a row, which covers all rows before it: SHA-256, in hexadecimal, of the JSON of the previous hash and of the row's
 * values in the order of its columns.
 */
export function hashAfter(previous: string, row: Omit<AuditRow, "hash">): string {
  const { number, at, actor, act, target, address, requestId, reason, before, after } = row;
  const values = [number, at, actor, act, target, address, requestId, reason, before, after];
  const text = JSON.stringify([previous, ...values.map((value) => value ?? null)]);
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** The ends of the chain. */
export interface AuditState {
  /** The last row; the base if there is none behind it. */
  number: number;
  hash: string;
  /** The last of the removed rows; 0 and an empty hash if none was removed. */
  baseNumber: number;
  baseHash: string;
}

/** Checks rows from the base on. `next` and `end` return the fault, as one line. */
export class ChainCheck {
  readonly #state: AuditState;
  #number: number;
  #hash: string;

  constructor(state: AuditState) {
    this.#state = state;
    this.#number = state.baseNumber;
    this.#hash = state.baseHash;
  }

  next(row: AuditRow): string | undefined {
    const expected = this.#number + 1;
    if (row.number !== expected) return `row ${expected} is missing: row ${row.number} follows`;
    if (hashAfter(this.#hash, row) !== row.hash) return `row ${row.number} was changed, or a row before it`;
    this.#number = row.number;
    this.#hash = row.hash;
    return undefined;
  }

  end(): string | undefined {
    const { number, hash } = this.#state;
    if (this.#number < number) return `row ${this.#number + 1} is missing: the log ends at row ${number}`;
    return this.#number > number || this.#hash !== hash
      ? `row ${this.#number} is not the last that was written`
      : undefined;
  }
}
