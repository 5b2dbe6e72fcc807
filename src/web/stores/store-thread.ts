/**
 * The thread that has the SQLite database of the web's tables. It starts with the first call, unless there is nothing to find
 * yet, and again after it has failed.
 */
import { existsSync } from "node:fs";
import { GatewayError, Thread } from "../../core/index.ts";
import type { SqlitePlace } from "../../storage/index.ts";
import { webPlace } from "../sql/web-database.ts";
import { STOP, type StoreCall, type StoreFailure, type StoreReply, type StoreRequest } from "./thread-protocol.ts";

/** Composes the thread's part. */
const PROGRAM = new URL("../../app/web-stores-thread.ts", import.meta.url);

/** What look-ups find as long as nothing has been stored: gateways whose web nobody uses start no thread. */
const emptyResults = new Map<string, unknown>([
  ["find", undefined],
  ["active", []],
  ["lastCompleted", undefined],
  ["search", []],
  ["take", []],
  ["exhausted", []],
  ["overdue", []],
  ["oversized", []],
  ["deleteExpired", false],
]);

/** How long a thread that has failed is not started again. */
const RESTART_MS = 1_000;

/** Failures of the disk or the file, which may pass. */
const UNAVAILABLE = /^SQLITE_(?:BUSY|CANTOPEN|CORRUPT|FULL|IOERR|LOCKED|NOTADB|READONLY)/;

interface Pending {
  resolve: (result: unknown) => void;
  reject: (reason: Error) => void;
}

export class StoreThread {
  readonly #storage: SqlitePlace;
  readonly #pending = new Map<number, Pending>();
  readonly #thread: Thread<StoreRequest | typeof STOP, StoreReply>;
  #nextId = 0;
  #isStopped = false;
  #failed: { reason: unknown; at: number } | undefined;

  constructor(storage: SqlitePlace) {
    this.#storage = storage;
    this.#thread = new Thread({
      program: PROGRAM,
      data: storage,
      onReply: (reply) => this.#receive(reply),
      onExit: (reason) => {
        this.#failed = { reason, at: performance.now() };
        const pending = [...this.#pending.values()];
        this.#pending.clear();
        for (const { reject } of pending) reject(unavailable(reason));
      },
    });
  }

  /** Performs a call. Rejects with `storage_unavailable` if the file cannot be used. */
  call(call: StoreCall): Promise<unknown> {
    if (this.#isStopped) return Promise.reject(unavailable(new Error("the storage is closed")));
    if (!this.#thread.isStarted) {
      if (emptyResults.has(call.method) && !existsSync(webPlace(this.#storage).path)) {
        return Promise.resolve(emptyResults.get(call.method));
      }
      if (this.#failed !== undefined && performance.now() - this.#failed.at < RESTART_MS) {
        return Promise.reject(unavailable(this.#failed.reason));
      }
    }
    return this.#send(call);
  }

  #send(call: StoreCall): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const request: StoreRequest = { ...call, id: (this.#nextId += 1) };
    // Throws for what cannot be cloned.
    this.#thread.send(request);
    this.#pending.set(request.id, { resolve, reject });
    return promise;
  }

  /** Ends the thread once it has performed the calls before. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#thread.end(STOP);
  }

  #receive(reply: StoreReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    // A command ends when it has its answers.
    if (this.#pending.size === 0 && !this.#isStopped) this.#thread.rest();
    if ("failure" in reply) pending?.reject(failureOf(reply.failure));
    else pending?.resolve(reply.result);
  }
}

function failureOf({ message, code = "" }: StoreFailure): Error {
  const reason = new Error(`${message} (${code === "" ? "in the thread of the web's storage" : code})`);
  return UNAVAILABLE.test(code) ? unavailable(reason) : reason;
}

/** The reason names the file: it is logged, and not answered. */
function unavailable(cause: unknown): GatewayError {
  const message = "The storage of the web can't be used.";
  return new GatewayError("storage_unavailable", message, { cause, retryAfterSeconds: 1 });
}
