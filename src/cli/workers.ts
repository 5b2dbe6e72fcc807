/**
 * The processes of `serve --workers`, and their supervisor:
 *
 *   starting ──reports that it listens──▶ running ──exits by itself──▶ waiting ──▶ starting …
 *      └──────exits before that, at the first start: all are stopped, and the start has failed
 *
 * Only the first start is all or nothing. Later, a worker that fails to start is retried with growing delays while the
 * others serve. A worker is stopped by ending its standard input, which the kernel does if the parent is killed.
 */
import { fileURLToPath } from "node:url";
import type { Logger } from "../telemetry/index.ts";
import { UsageError } from "./options.ts";
import { isCatalogReport, WorkerCatalogs } from "./server/worker-catalog.ts";
import { type Families, WorkerMetrics } from "./server/worker-metrics.ts";
import { HAND_OVER, type Stopping } from "./server/end-on-signal.ts";
import { isReloadAnswer, type WorkerConfiguration, WorkerReloads } from "./server/worker-reload.ts";
import type { WorkerSettings } from "./server/worker-settings.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

/** The delay before an exited worker is restarted; doubled until a worker lasts. */
const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;

/** A worker that ran for this long did not fail to start. */
const LASTING_MS = 30_000;

/** How long a worker may take to stop, besides the time that the configuration gives its calls: longer than its own bounds allow. */
const STOP_MS_MAX = 90_000;

type WorkerProcess = Bun.Subprocess<"pipe", "pipe", "inherit">;

interface Worker {
  process: WorkerProcess;
  /** Whether it has started to listen; otherwise resolves at its exit. */
  listens: Promise<boolean>;
}

export interface WorkersOptions {
  count: number;
  /** Read at each start of a worker. */
  settings: WorkerSettings;
  logger: Logger;
}

export class Workers {
  readonly #settings: WorkerSettings;
  readonly #logger: Logger;
  /** Each with whether it has started to listen; otherwise that resolves at its exit. */
  readonly #running = new Map<WorkerProcess, Promise<boolean>>();
  readonly #reloads = new WorkerReloads<WorkerProcess>();
  readonly metrics = new WorkerMetrics();
  readonly catalogs = new WorkerCatalogs<WorkerProcess>();
  readonly #stopping = Promise.withResolvers<void>();
  #isStopping = false;

  private constructor({ settings, logger }: WorkersOptions) {
    this.#settings = settings;
    this.#logger = logger;
  }

  /** Resolves when all listen. Rejects if one fails to; none is left running then. */
  static async start(options: WorkersOptions): Promise<Workers> {
    const workers = new Workers(options);
    const started = Array.from({ length: options.count }, (_, index) => workers.#spawn(index + 1));
    const listening = await Promise.all(started.map((worker) => worker.listens));
    const failed = listening.indexOf(false) + 1;
    if (failed > 0) {
      await workers.stop();
      throw new UsageError(`--workers: worker ${failed} did not start`);
    }
    for (const [index, worker] of started.entries()) void workers.#keepRunning(index + 1, worker);
    return workers;
  }

  /** Lets all drain, or hand over; resolves when they have exited, with 0 if all exit codes were 0. */
  async stop({ handsOver }: Stopping = { handsOver: false }): Promise<number> {
    this.#isStopping = true;
    this.#stopping.resolve();
    const running = [...this.#running.keys()];
    const { drain, drain_delay: delay = 0 } = this.#settings.config.server;
    const timer = setTimeout(
      () => {
        for (const worker of running) worker.kill("SIGKILL");
      },
      drain + delay + STOP_MS_MAX,
    );
    for (const worker of running) {
      if (!handsOver || !letHandOver(worker)) void closeInput(worker);
    }
    const codes = await Promise.all(running.map((worker) => worker.exited));
    clearTimeout(timer);
    return codes.every((code) => code === 0) ? 0 : 1;
  }

  /**
   * Puts a configuration into force in every worker, also in those that start later. One that can't is restarted: it takes no more
   * calls, ends those that it has, and another one takes its place.
   */
  async reconfigure({ refreshesCatalog, ...next }: WorkerConfiguration): Promise<void> {
    Object.assign(this.#settings, next);
    await Promise.all(
      [...this.#running].map(async ([worker, listens]) => {
        const isDone = (await listens) && (await this.#reloads.send(worker, { ...next, refreshesCatalog }));
        if (isDone || worker.exitCode !== null) return;
        this.#logger.warn({ pid: worker.pid }, "worker can't take the configuration, and is restarted");
        void closeInput(worker);
      }),
    );
  }

  #spawn(number: number): Worker {
    const child: WorkerProcess = Bun.spawn([process.execPath, MAIN, "worker", String(number)], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
      ipc: (message: Families | object) => {
        if (isReloadAnswer(message)) this.#reloads.receive(child, message);
        else if (isCatalogReport(message)) this.catalogs.receive(child, message);
        else this.metrics.receive(child, message as Families);
      },
    });
    const listens = hasOutput(child.stdout);
    this.#running.set(child, listens);
    this.metrics.join(child);
    const leave = (): void => {
      this.#running.delete(child);
      this.metrics.leave(child);
      this.catalogs.leave(child);
      this.#reloads.leave(child);
    };
    void child.exited.then(leave);
    void sendSettings(child, `${JSON.stringify(this.#settings)}\n`);
    return { process: child, listens };
  }

  async #keepRunning(number: number, first: Worker): Promise<void> {
    let pauseMs = PAUSE_MS_MIN;
    for (let worker = first; ; worker = this.#spawn(number)) {
      const startedAt = performance.now();
      const code = await worker.process.exited;
      if (this.#isStopping) return;
      if (performance.now() - startedAt > LASTING_MS) pauseMs = PAUSE_MS_MIN;
      const { pid, signalCode: signal } = worker.process;
      this.#logger.warn({ worker: number, pid, code, signal, again_in_ms: pauseMs }, "worker ended");
      await Promise.race([Bun.sleep(pauseMs), this.#stopping.promise]);
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
      if (this.#isStopping) return;
    }
  }
}

/** If the worker has exited already, its exit explains more than the error here. */
async function sendSettings(worker: WorkerProcess, text: string): Promise<void> {
  try {
    await worker.stdin.write(text);
    await worker.stdin.flush();
  } catch {}
}

/** Returns whether it gets to know. */
function letHandOver(worker: WorkerProcess): boolean {
  try {
    worker.send(HAND_OVER);
    return true;
  } catch {
    return false;
  }
}

async function closeInput(worker: WorkerProcess): Promise<void> {
  try {
    await worker.stdin.end();
  } catch {}
}

/** Whether there is any data before the end; reads on, so the writer is never blocked. */
function hasOutput(output: ReadableStream<Uint8Array>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const read = async (): Promise<void> => {
    for await (const _ of output) resolve(true);
  };
  void read()
    .catch(() => undefined)
    .finally(() => resolve(false));
  return promise;
}
