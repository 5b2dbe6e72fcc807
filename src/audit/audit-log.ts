import type { Clock } from "../core/index.ts";
import { inOneCommit, readerOf, type Steps, type Storage } from "../storage/index.ts";
import { type AuditRow, type AuditState, ChainCheck, hashAfter } from "./chain.ts";
import { insertRow, lockState, moveState, rows, rowsAfter, rowsBefore, selectState, states } from "./sql/statements.ts";

/** Who acts, and from where. */
export interface Actor {
  /** `cli:NAME` of the operating system's user, `token:ID`, `node:HOST:PID`, `sandbox`. */
  name: string;
  address?: string | undefined;
  requestId?: string | undefined;
}

/** One change of an act, for its row. The values are those of the API, and contain no secret. */
interface Change {
  act: string;
  target: string;
  before?: object | undefined;
  after?: object | undefined;
}

/** Notes a change of an act, which is written with it. */
export type NoteChange = (change: Change) => void;

export interface ActOptions {
  actor: Actor;
  reason?: string | undefined;
  /** Nothing is changed; the answer is the same as if it were. */
  dryRun?: boolean;
}

/** Rows read at a time while the chain is verified. */
const VERIFIED_ROWS = 500;

/** Undoes a dry run, and carries its result out of the transaction. */
class DryRun<Result> extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super("a dry run is undone");
    this.result = result;
  }
}

export interface AuditLogOptions {
  storage: Storage;
  clock: Clock;
  /** Called after each act, whether or not it has failed: caches of the rows that it has read must be cleared. */
  onAct?: () => void;
  /** Called after an act that has changed something. */
  onChange?: (() => void) | undefined;
}

/** The log of all acts, and the one way to act: a change and its row are one commit. */
export class AuditLog {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #onAct: () => void;
  readonly #onChange: () => void;
  /** Acts that waited for the row's lock on Postgres would keep its few connections from look-ups: one act of a process does. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ storage, clock, onAct = () => undefined, onChange = () => undefined }: AuditLogOptions) {
    this.#storage = storage;
    this.#clock = clock;
    this.#onAct = onAct;
    this.#onChange = onChange;
  }

  /**
   * Runs the statements of an act in one transaction, with a row for each change that it notes. Acts of all processes run one after
   * the other, so that the rows that an act has read stay the same until it is committed. An exception undoes it all.
   */
  act<Result>(options: ActOptions, work: (note: NoteChange) => Steps<Result>): Promise<Result> {
    const acted = this.#last.then(() => this.#act(options, work));
    this.#last = acted.catch(() => undefined);
    return acted;
  }

  /** Writes the row of an act that changes nothing in the storage. */
  note(options: ActOptions, change: Change): Promise<void> {
    // oxlint-disable-next-line require-yield -- there are no statements beside the row
    return this.act(options, function* (note) {
      note(change);
    });
  }

  async #act<Result>(options: ActOptions, work: (note: NoteChange) => Steps<Result>): Promise<Result> {
    const at = this.#clock();
    let isChange = false;
    const steps = function* (): Steps<Result> {
      const state = yield* lockState();
      if (state === undefined) throw new Error("the audit log has lost its state");
      const changes: Change[] = [];
      const result = yield* work((change) => changes.push(change));
      yield* append(state, changes, { ...options, at });
      isChange = changes.length > 0;
      if (options.dryRun === true) throw new DryRun(result);
      return result;
    };
    try {
      const result = await inOneCommit(this.#storage, steps);
      if (isChange) this.#onChange();
      return result;
    } catch (reason) {
      if (reason instanceof DryRun) return reason.result as Result;
      throw reason;
    } finally {
      this.#onAct();
    }
  }

  /** The rows before a number, from the newest. */
  list({
    before = Number.MAX_SAFE_INTEGER,
    limit,
  }: {
    before?: number | undefined;
    limit: number;
  }): Promise<AuditRow[]> {
    return readerOf(this.#storage).rows(rowsBefore(before, limit), rows.read);
  }

  /** The rows after a number, from the oldest. */
  listAfter(number: number, limit: number): Promise<AuditRow[]> {
    return readerOf(this.#storage).rows(rowsAfter(number, limit), rows.read);
  }

  /** Reads the whole chain. Resolves with the number of its rows, and with the fault of the first bad one. */
  async verify(): Promise<{ rows: number; fault: string | undefined }> {
    const state = await this.#state();
    if (state === undefined) return { rows: 0, fault: "the log has lost its state" };
    const check = new ChainCheck(state);
    let last = state.baseNumber;
    for (;;) {
      const read = await this.listAfter(last, VERIFIED_ROWS);
      for (const row of read) {
        const isNew = row.number > state.number;
        const fault = isNew ? (check.end() ?? (await this.#strayed(row))) : check.next(row);
        if (fault !== undefined || isNew) return { rows: last - state.baseNumber, fault };
        last = row.number;
      }
      if (read.length < VERIFIED_ROWS) return { rows: last - state.baseNumber, fault: check.end() };
    }
  }

  #state(): Promise<AuditState | undefined> {
    return readerOf(this.#storage).first(selectState, states.read);
  }

  /** A row behind the end of the chain belongs to a later act, unless the end has not moved. */
  async #strayed({ number }: AuditRow): Promise<string | undefined> {
    const state = await this.#state();
    return state !== undefined && state.number >= number ? undefined : `row ${number} was not written by an act`;
  }
}

/** Writes the rows of an act, and the new end of the chain. */
function* append(
  state: AuditState,
  changes: readonly Change[],
  { actor, reason, at }: ActOptions & { at: number },
): Steps<void> {
  if (changes.length === 0) return;
  let { number, hash } = state;
  for (const { act, target, before, after } of changes) {
    number += 1;
    const { name, address, requestId } = actor;
    const values = { before: before && JSON.stringify(before), after: after && JSON.stringify(after) };
    // Of half a surrogate pair, the storage would return another character than was hashed.
    const row = { number, at, actor: name, act, target, address, requestId, reason: reason?.toWellFormed(), ...values };
    hash = hashAfter(hash, row);
    yield insertRow({ ...row, hash });
  }
  yield moveState(number, hash);
}
