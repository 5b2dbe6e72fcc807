/**
 * The thread that has the SQLite database of the web's tables. It starts with the first call, unless there is nothing to find
 * yet, and again after it has failed.
 */
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { GatewayError } from "../../core/index.ts";
import type { WebDatabase } from "../../storage/index.ts";
import { STOP, type StoreCall, type StoreReply, type StoreRequest } from "./thread-protocol.ts";

/** Composes the thread's part. */
const PROGRAM = new URL("../../app-web-stores.ts", import.meta.url);

/** What regular look-ups find as long as nothing has been stored: gateways whose web nobody uses start no thread. */
const emptyResults = new Map<string, unknown>([
  ["take", []],
  ["exhausted", []],
  ["overdue", []],
  ["deleteExpired", false],
]);

interface Pending {
  resolve: (result: unknown) => void;
  reject: (reason: Error) => void;
}

export class StoreThread {
  readonly #database: WebDatabase;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #exited: Promise<void> = Promise.resolve();
  #nextId = 0;
  #isStopped = false;

  constructor(database: WebDatabase) {
    this.#database = database;
  }

  /** Performs a call. Rejects with `storage_unavailable` if it fails. */
  call(call: StoreCall): Promise<unknown> {
    if (this.#isStopped) return Promise.reject(unavailable("the storage is closed"));
    if (this.#worker === undefined && emptyResults.has(call.method) && !existsSync(this.#database.path)) {
      return Promise.resolve(emptyResults.get(call.method));
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const worker = (this.#worker ??= this.#start());
    const request: StoreRequest = { ...call, id: (this.#nextId += 1) };
    this.#pending.set(request.id, { resolve, reject });
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(request);
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
    const worker = new Worker(PROGRAM, { workerData: this.#database });
    const { promise, resolve } = Promise.withResolvers<void>();
    let failure = "its thread has ended";
    this.#exited = promise;
    worker.on("message", (reply: StoreReply) => this.#receive(reply));
    worker.on("error", (reason) => {
      failure = String(reason);
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

  #receive(reply: StoreReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    // A command ends when it has its answers.
    if (this.#pending.size === 0 && !this.#isStopped) this.#worker?.unref();
    if ("failure" in reply) pending?.reject(unavailable(reply.failure));
    else pending?.resolve(reply.result);
  }
}

function unavailable(reason: string): GatewayError {
  const message = `The storage of the web can't be used: ${reason}.`;
  return new GatewayError("storage_unavailable", message, { retryAfterSeconds: 1 });
}
