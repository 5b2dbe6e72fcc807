/** The reading of lists, sums and exports beside the thread that answers calls. */
import { GatewayError, Thread } from "../../core/index.ts";
import type { Value } from "../sql/statement.ts";
import type { SqlRow } from "../sql/table.ts";
import { type ReadReply, type ReadRequest, STOP } from "./read-protocol.ts";

const PROGRAM = new URL("reading-thread.ts", import.meta.url);

interface Pending {
  /** Takes some rows. Throws if they can't be read. */
  take: (columns: readonly string[], rows: readonly (readonly unknown[])[]) => void;
  failure: unknown;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/** A thread with a connection of its own, which starts with the first statement, and again after it has failed. */
export class SqliteReader {
  readonly #pending = new Map<number, Pending>();
  readonly #thread: Thread<ReadRequest | typeof STOP, ReadReply>;
  #nextId = 0;
  #isStopped = false;
  #stopped: () => void = () => undefined;

  constructor(path: string) {
    this.#thread = new Thread({
      program: PROGRAM,
      data: path,
      onReply: (reply) => this.#receive(reply),
      onExit: (reason) => {
        const pending = [...this.#pending.values()];
        this.#pending.clear();
        for (const { reject } of pending) reject(unavailable(reason));
        this.#stopIfIdle();
      },
    });
  }

  /** Whether there is a thread to stop. */
  get isStarted(): boolean {
    return this.#thread.isStarted;
  }

  /**
   * The rows of a statement that only reads, of all that is committed by now, as `read` has them: it is called for some at a time, with
   * calls between them. Rejects with `storage_unavailable` if the thread fails.
   */
  async run<Entry>(text: string, values: readonly Value[], read: (row: SqlRow) => Entry): Promise<Entry[]> {
    if (this.#isStopped) throw unavailable(new Error("the storage is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const id = (this.#nextId += 1);
    const entries: Entry[] = [];
    const take: Pending["take"] = (columns, rows) => {
      for (const row of rows) entries.push(read(rowOf(columns, row)));
    };
    this.#pending.set(id, { take, failure: undefined, resolve, reject });
    this.#thread.send({ id, text, values });
    await promise;
    return entries;
  }

  /** Ends the thread once it has answered the statements before. */
  stop(): Promise<void> {
    this.#isStopped = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stopped = resolve;
    this.#stopIfIdle();
    return promise;
  }

  #stopIfIdle(): void {
    if (this.#isStopped && this.#pending.size === 0) void this.#thread.end(STOP).then(this.#stopped);
  }

  #receive(reply: ReadReply): void {
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    if ("message" in reply) {
      const { message, code = "" } = reply;
      const reason = new Error(code === "" ? message : `${message} (${code})`);
      pending.reject(code.startsWith("SQLITE_") ? unavailable(reason) : reason);
    } else {
      try {
        if (pending.failure === undefined) pending.take(reply.columns, reply.rows);
      } catch (reason) {
        pending.failure = reason;
      }
      // The thread keeps the rest of a statement until it was sent.
      if (reply.more) return this.#thread.send({ id: reply.id, next: true });
      if (pending.failure === undefined) pending.resolve();
      else pending.reject(pending.failure);
    }
    this.#pending.delete(reply.id);
    // A process ends when it has its answers.
    if (this.#pending.size === 0 && !this.#isStopped) this.#thread.rest();
    this.#stopIfIdle();
  }
}

function rowOf(columns: readonly string[], values: readonly unknown[]): SqlRow {
  const row: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) row[column] = values[index];
  return row;
}

/** The reason names the file: it is logged, and not answered. */
function unavailable(cause: unknown): GatewayError {
  return new GatewayError("storage_unavailable", "The storage can't be read.", { cause, retryAfterSeconds: 1 });
}
