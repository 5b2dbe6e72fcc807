/** The reading of lists, sums and exports beside the thread that answers calls. */
import { Worker } from "node:worker_threads";
import { GatewayError } from "../../core/index.ts";
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
  readonly #path: string;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #exited: Promise<void> = Promise.resolve();
  #nextId = 0;
  #isStopped = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether there is a thread to stop. */
  get isStarted(): boolean {
    return this.#worker !== undefined;
  }

  /**
   * The rows of a statement that only reads, of all that is committed by now, as `read` has them: it is called for some at a time, with
   * calls between them. Rejects with `storage_unavailable` if the thread fails.
   */
  async run<Entry>(text: string, values: readonly Value[], read: (row: SqlRow) => Entry): Promise<Entry[]> {
    if (this.#isStopped) throw unavailable(new Error("the storage is closed"));
    const worker = (this.#worker ??= this.#start());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const id = (this.#nextId += 1);
    const entries: Entry[] = [];
    const take: Pending["take"] = (columns, rows) => {
      for (const row of rows) entries.push(read(rowOf(columns, row)));
    };
    this.#pending.set(id, { take, failure: undefined, resolve, reject });
    worker.ref();
    send(worker, { id, text, values });
    await promise;
    return entries;
  }

  /** Ends the thread once it has answered the statements before. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#worker?.ref();
    this.#stopIfIdle();
    return this.#exited;
  }

  #stopIfIdle(): void {
    if (this.#isStopped && this.#pending.size === 0) this.#worker?.postMessage(STOP);
  }

  #start(): Worker {
    const worker = new Worker(PROGRAM, { workerData: this.#path });
    const { promise, resolve } = Promise.withResolvers<void>();
    let failure: unknown = new Error("the reading thread has ended");
    this.#exited = promise;
    worker.on("message", (reply: ReadReply) => this.#receive(worker, reply));
    worker.on("error", (reason) => {
      failure = reason;
    });
    worker.on("exit", () => {
      this.#worker = undefined;
      const pending = [...this.#pending.values()];
      this.#pending.clear();
      for (const { reject } of pending) reject(unavailable(failure));
      resolve();
    });
    return worker;
  }

  #receive(worker: Worker, reply: ReadReply): void {
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
      if (reply.more) return send(worker, { id: reply.id, next: true });
      if (pending.failure === undefined) pending.resolve();
      else pending.reject(pending.failure);
    }
    this.#pending.delete(reply.id);
    // A process ends when it has its answers.
    if (this.#pending.size === 0 && !this.#isStopped) worker.unref();
    this.#stopIfIdle();
  }
}

function rowOf(columns: readonly string[], values: readonly unknown[]): SqlRow {
  const row: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) row[column] = values[index];
  return row;
}

function send(worker: Worker, request: ReadRequest): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(request);
}

/** The reason names the file: it is logged, and not answered. */
function unavailable(cause: unknown): GatewayError {
  return new GatewayError("storage_unavailable", "The storage can't be read.", { cause, retryAfterSeconds: 1 });
}
