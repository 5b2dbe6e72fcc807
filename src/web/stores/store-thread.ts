/**
 * The thread that has the SQLite database of the web's tables. It starts with the first call, unless there is nothing to find
 * yet, and again after it has failed.
 */
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { GatewayError } from "../../core/index.ts";
import type { SqlitePlace } from "../../storage/index.ts";
import { webPlace } from "../sql/web-database.ts";
import { STOP, type StoreCall, type StoreFailure, type StoreReply, type StoreRequest } from "./thread-protocol.ts";

/** Composes the thread's part. */
const PROGRAM = new URL("../../app/web-stores-thread.ts", import.meta.url);

/** What look-ups find as long as nothing has been stored: gateways whose web nobody uses start no thread. */
const emptyResults = new Map<string, unknown>([
  ["find", undefined],
  ["active", []],
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
  #worker: Worker | undefined;
  #exited: Promise<void> = Promise.resolve();
  #nextId = 0;
  #isStopped = false;
  #failed: { reason: unknown; at: number } | undefined;

  constructor(storage: SqlitePlace) {
    this.#storage = storage;
  }

  /** Performs a call. Rejects with `storage_unavailable` if the file cannot be used. */
  call(call: StoreCall): Promise<unknown> {
    if (this.#isStopped) return Promise.reject(unavailable(new Error("the storage is closed")));
    if (this.#worker === undefined) {
      if (emptyResults.has(call.method) && !existsSync(webPlace(this.#storage).path)) {
        return Promise.resolve(emptyResults.get(call.method));
      }
      if (this.#failed !== undefined && performance.now() - this.#failed.at < RESTART_MS) {
        return Promise.reject(unavailable(this.#failed.reason));
      }
    }
    return this.#send((this.#worker ??= this.#start()), call);
  }

  #send(worker: Worker, call: StoreCall): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const request: StoreRequest = { ...call, id: (this.#nextId += 1) };
    // Throws for what cannot be cloned.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(request);
    worker.ref();
    this.#pending.set(request.id, { resolve, reject });
    return promise;
  }

  /** Ends the thread once it has performed the calls before. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#worker?.ref();
    this.#worker?.postMessage(STOP);
    return this.#exited;
  }

  #start(): Worker {
    const worker = new Worker(PROGRAM, { workerData: this.#storage });
    const { promise, resolve } = Promise.withResolvers<void>();
    let failure: unknown = new Error("its thread has ended");
    this.#exited = promise;
    worker.on("message", (reply: StoreReply) => this.#receive(reply));
    worker.on("error", (reason) => {
      failure = reason;
    });
    worker.on("exit", () => {
      this.#worker = undefined;
      this.#failed = { reason: failure, at: performance.now() };
      const pending = [...this.#pending.values()];
      this.#pending.clear();
      for (const { reject } of pending) reject(unavailable(failure));
      resolve();
    });
    return worker;
  }

  #receive(reply: StoreReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    // A command ends when it has its answers.
    if (this.#pending.size === 0 && !this.#isStopped) this.#worker?.unref();
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
