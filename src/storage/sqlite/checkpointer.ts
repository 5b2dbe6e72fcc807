/**
 * Checkpoints of the write-ahead log beside the thread that commits:
 *
 *   waiting ──the log's file is long──▶ running ──the worker dies──▶ waiting
 *      └──────────────stop──────────────────┴──────────────▶ stopped
 *
 * A worker copies frames to the database while commits append new ones. Only a log that is copied completely is
 * restarted; otherwise its file would grow without end. So the worker copies until few frames remain, and the last ones
 * are copied here, between two commits. Without a worker, or if it falls behind, SQLite's own checkpoint after a commit
 * (`wal_autocheckpoint`) keeps the log bounded.
 *
 * Nothing here is needed for durability: a commit is in the log before it is answered, and a file whose process was
 * killed at any moment is recovered from its log.
 */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { StorageLog } from "../database.ts";
import { type CheckpointNews, type CheckpointPlan, type CheckpointSettings, STOP } from "./checkpoint-protocol.ts";
import { descriptorOf } from "./descriptors.ts";
import { copyFrames } from "./wal.ts";

/**
 * A pass over 1 MiB takes half a millisecond of CPU; longer ones delay calls more if the worker shares its core with the
 * thread that answers. A restart costs that thread three waits for the disk, so it is rare: one a second at 30 MB of log a
 * second.
 */
const defaultPlan: CheckpointPlan = {
  startBytes: 4 * 2 ** 20,
  passBytes: 2 ** 20,
  restartBytes: 32 * 2 ** 20,
  watchMs: 200,
  checkMs: 25,
  retryMs: 200,
  replaceMs: 5_000,
};

/** A failure that lasts is logged this often. */
const LOG_MS = 60_000;

export interface CheckpointerOptions {
  handle: Database;
  /** The database's file. */
  path: string;
  log: StorageLog;
  plan?: CheckpointPlan;
}

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  readonly #plan: CheckpointPlan;
  #watch: NodeJS.Timeout | undefined;
  #worker: Worker | undefined;
  #exited: Promise<void> | undefined;
  #isStopped = false;
  #loggedAt: number | undefined;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#plan = options.plan ?? defaultPlan;
    this.#wait(this.#plan.watchMs);
  }

  /** Call it before the file is closed. Returns a promise if a worker runs: it resolves when the worker has ended. */
  stop(): Promise<void> | undefined {
    this.#isStopped = true;
    clearInterval(this.#watch);
    this.#worker?.postMessage(STOP);
    // A command has nothing else to wait for.
    this.#worker?.ref();
    return this.#exited;
  }

  #wait(everyMs: number): void {
    this.#watch = setInterval(() => this.#startIfLong(), everyMs);
    this.#watch.unref();
  }

  #startIfLong(): void {
    try {
      const size = statSync(`${this.#options.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      if (size < this.#plan.startBytes) return;
      clearInterval(this.#watch);
      this.#start();
    } catch (reason) {
      clearInterval(this.#watch);
      this.#fail(String(reason));
      this.#wait(this.#plan.replaceMs);
    }
  }

  #start(): void {
    const { path } = this.#options;
    const workerData: CheckpointSettings = { path, descriptor: descriptorOf(path), plan: this.#plan };
    const worker = new Worker(new URL("checkpoint-worker.ts", import.meta.url), { workerData });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#worker = worker;
    this.#exited = promise;
    worker.on("message", (news: CheckpointNews) => this.#receive(news));
    worker.on("error", (reason) => this.#fail(String(reason)));
    worker.on("exit", () => {
      this.#worker = undefined;
      this.#exited = undefined;
      if (!this.#isStopped) this.#wait(this.#plan.replaceMs);
      resolve();
    });
    // Last, because a listener for messages makes the process wait for the worker again.
    worker.unref();
  }

  #receive(news: CheckpointNews): void {
    if (this.#isStopped) return;
    if (news.kind === "failed") this.#fail(news.reason);
    else if (news.kind === "succeeded") this.#succeed();
    else this.#finish();
  }

  #finish(): void {
    try {
      copyFrames(this.#options.handle);
      this.#succeed();
    } catch (reason) {
      this.#fail(String(reason));
    }
  }

  #fail(reason: string): void {
    const now = performance.now();
    if (this.#loggedAt !== undefined && now - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = now;
    this.#options.log.warn({ reason }, "checkpoint failed, will be retried");
  }

  #succeed(): void {
    if (this.#loggedAt === undefined) return;
    this.#loggedAt = undefined;
    this.#options.log.info({}, "checkpoints succeed again");
  }
}
