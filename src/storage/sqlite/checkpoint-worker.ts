/**
 * The thread that copies the write-ahead log to the database while the main thread answers requests. Copying waits for
 * the disk, 20 ms and more at a time. See `checkpointer.ts` for the main thread's part.
 */
import { Database } from "bun:sqlite";
import { fdatasyncSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type CheckpointNews, type CheckpointSettings, STOP } from "./checkpoint-protocol.ts";
import { copyFrames, readWal } from "./wal.ts";

const RETRY_MS_MAX = 30_000;

/** The main thread copies that many frames in half a millisecond. */
const LAST_FRAMES_MAX = 128;

/** While nothing is committed, the log's length is read less often. */
const IDLE_CHECKS = 8;

/** Each pass copies the commits made during the previous one, so the remainder shrinks quickly or not at all. */
const PASSES_MAX = 4;

/** After an attempt that did not restart the log because someone reads it: how much it grows before the next one. */
const REPEATED_SHARE = 0.25;

const settings = workerData as CheckpointSettings;
const { plan } = settings;
let log: CopiedLog | undefined;
let state: "new" | "succeeded" | "failed" = "new";
let retryMs = plan.retryMs;
let timer: NodeJS.Timeout | undefined;

/** The write-ahead log of one connection, and the decisions when to copy and when to restart it. */
class CopiedLog {
  readonly #database: Database;
  readonly #framesPerPass: number;
  readonly #framesPerRestart: number;
  #restartFrom: number;
  #frames = 0;
  /** Whether nothing was committed between the last two checks. */
  isIdle = false;

  constructor() {
    this.#database = new Database(settings.path, { readwrite: true });
    const page = this.#database.query<{ page_size: number }, []>("PRAGMA page_size").get()?.page_size ?? 4_096;
    this.#framesPerPass = Math.ceil(plan.passBytes / page);
    this.#framesPerRestart = Math.ceil(plan.restartBytes / page);
    this.#restartFrom = this.#framesPerRestart;
  }

  close(): void {
    this.#database.close();
  }

  copyAll(): void {
    copyFrames(this.#database);
  }

  /** Copies frames if enough have accumulated. Returns whether the main thread should copy the last ones. */
  work(): boolean {
    const { frames, copied } = readWal(this.#database);
    this.isIdle = frames === this.#frames;
    this.#frames = frames;
    if (frames < this.#framesPerRestart) this.#restartFrom = this.#framesPerRestart;
    const remaining = frames - copied;
    const isLong = frames >= this.#restartFrom;
    if (remaining === 0 || (remaining < this.#framesPerPass && !isLong)) return false;
    if (!isLong) {
      copyFrames(this.#database);
      return false;
    }
    if (!this.#copyAlmostAll()) return false;
    this.#restartFrom = frames + Math.ceil(this.#framesPerRestart * REPEATED_SHARE);
    return true;
  }

  /**
   * Leaves few frames uncopied and few pages of the database unwritten, so that the last pass is short. Returns false
   * if a reader needs old pages or another process makes a checkpoint.
   */
  #copyAlmostAll(): boolean {
    for (let passes = 1; ; passes += 1) {
      const pass = copyFrames(this.#database);
      if (pass.busy || pass.copied < pass.frames) return false;
      // While others commit, SQLite leaves this to the last pass, which would have to wait for every page copied so far.
      fdatasyncSync(settings.descriptor);
      const remaining = readWal(this.#database).frames - pass.copied;
      if (remaining <= LAST_FRAMES_MAX || passes === PASSES_MAX) return true;
    }
  }
}

function check(): void {
  try {
    log ??= new CopiedLog();
    if (log.work()) send({ kind: "finish" });
    if (state !== "succeeded") send({ kind: "succeeded" });
    state = "succeeded";
    retryMs = plan.retryMs;
    timer = setTimeout(check, plan.checkMs * (log.isIdle ? IDLE_CHECKS : 1));
  } catch (reason) {
    close();
    send({ kind: "failed", reason: String(reason) });
    state = "failed";
    timer = setTimeout(check, retryMs);
    retryMs = Math.min(RETRY_MS_MAX, 2 * retryMs);
  }
}

function close(): void {
  log?.close();
  log = undefined;
}

/** Leaves little of the log to recover at the next start. */
function copyLastFrames(): void {
  try {
    log?.copyAll();
  } catch {
    // They stay in the log.
  }
}

function send(news: CheckpointNews): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads has no origin
  parentPort?.postMessage(news);
}

parentPort?.on("message", (message: unknown) => {
  if (message !== STOP) return;
  clearTimeout(timer);
  copyLastFrames();
  close();
  parentPort?.close();
});
check();
