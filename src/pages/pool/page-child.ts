import { readdirSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { limits, type RandomFraction, unprivilegedUser } from "../../core/index.ts";
import { type Frame, frameOf, FrameReader } from "../../streaming/index.ts";
import { PageError, type ReadFailure } from "../page-error.ts";
import { useOf } from "./process-use.ts";
import { decodeReply, isBeginning, messageBounds, type Result, type Task } from "./tasks.ts";

const childMain = fileURLToPath(new URL("child-main.ts", import.meta.url));

/** The memory that a child's garbage collector takes the machine to have. */
const collectorBytes = 384 * 1024 * 1024;

/** How often the memory and the time of a child at work are read. It takes 20 µs on Linux, and a process on other systems. */
const watchMs = process.platform === "linux" ? 50 : 500;

export interface ChildBounds {
  /** How long one document may take: on a machine that is busy with other work, much longer than it computes. */
  taskMsMax: number;
  /** How long one document may compute, on all cores. */
  taskCpuMsMax: number;
  /** Resident memory; a child that needs more is ended. */
  memoryBytesMax: number;
}

/**
 * One child process. It does one task at a time; whatever goes wrong ends the process, and with it only that task.
 * It gets no environment of the gateway's: no keys of providers. That of a gateway of root becomes a user without rights.
 */
export class PageChild {
  readonly #process: Bun.Subprocess<"pipe", "pipe", "ignore">;
  readonly #bounds: ChildBounds;
  #running: PromiseWithResolvers<Frame> | undefined;
  #endedBecause: ReadFailure = "crashed";
  /** The process was asked to end, or has ended. */
  isEnding = false;
  /** The memory after the last task. */
  residentBytes = 0;
  /** The processor time after the last task; that of the start counts for the first one. */
  #cpuMs = 0;
  #cpuMsBefore = 0;
  #hasBegun = false;
  #hasLowPriority = false;

  constructor(bounds: ChildBounds, randomFraction: RandomFraction) {
    this.#bounds = bounds;
    const userId = unprivilegedUser(randomFraction);
    this.#process = Bun.spawn([process.execPath, childMain, ...(userId === undefined ? [] : [String(userId)])], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
      // Bun reads a .env file from the directory that it is started in.
      cwd: dirname(childMain),
      env: {
        // The collector's heap is sized by the machine's memory unless another is set; with less it works harder and
        // keeps less. A page of 5 MB takes 275 MB without a bound and 215 MB with this one. A table of 160,000 cells takes
        // 550 MB and 460 MB; with 192 MB it takes 440 MB, and a third longer.
        BUN_JSC_forceRAMSize: String(collectorBytes),
        PATH: "/usr/bin:/bin",
        LANG: "C.UTF-8",
        TZ: "UTC",
      },
    });
    preferEnding(this.#process.pid);
    void this.#readReplies();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Resolves when the process has ended. */
  get ended(): Promise<unknown> {
    return this.#process.exited;
  }

  /** Whether the process has begun with the task, or with the last one. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The processor time of the task, as it was seen last. */
  get taskCpuMs(): number {
    return this.#cpuMs - this.#cpuMsBefore;
  }

  /** @throws PageError. After `timeout`, `busy`, `too_large` and `crashed` the process has ended. */
  async run(task: Task, bytes: Uint8Array): Promise<Result> {
    const running = Promise.withResolvers<Frame>();
    this.#running = running;
    this.#hasBegun = false;
    const timer = setTimeout(() => this.end(this.#hasBegun ? "timeout" : "busy"), this.#bounds.taskMsMax);
    const stopWatching = this.#watch();
    try {
      await Promise.race([this.#send(task, bytes), running.promise]);
      return decodeReply(await running.promise);
    } finally {
      clearTimeout(timer);
      stopWatching();
      this.#running = undefined;
    }
  }

  /** Ends the process at once. A task that runs fails with `because`. */
  end(because: ReadFailure): void {
    this.isEnding = true;
    this.#endedBecause = because;
    this.#process.kill("SIGKILL");
  }

  async #send(task: Task, bytes: Uint8Array): Promise<void> {
    try {
      for (const part of frameOf({ text: JSON.stringify(task), parts: [bytes] })) await this.#process.stdin.write(part);
      await this.#process.stdin.flush();
    } catch {
      // It has ended; the end of its output shows it.
    }
  }

  async #readReplies(): Promise<void> {
    const reader = new FrameReader(messageBounds, (frame) => {
      if (isBeginning(frame)) this.#begin();
      else this.#running?.resolve(frame);
    });
    try {
      for await (const piece of this.#process.stdout) reader.push(piece);
    } catch {
      this.#process.kill("SIGKILL");
    }
    this.isEnding = true;
    await this.#process.exited;
    const message = messages[this.#endedBecause] ?? "the document could not be read";
    this.#running?.reject(new PageError(this.#endedBecause, message, { cpuMs: this.taskCpuMs }));
  }

  /** The process has started, which takes it a quarter of a second, and works at a document from now on. */
  #begin(): void {
    this.#hasBegun = true;
    if (!this.#hasLowPriority) lowerPriority(this.pid);
    this.#hasLowPriority = true;
  }

  #watch(): () => void {
    // Between two tasks a child computes next to nothing.
    this.#cpuMsBefore = this.#cpuMs;
    const watch = async (): Promise<void> => {
      const use = await useOf(this.pid);
      if (use === undefined || this.isEnding) return;
      this.residentBytes = use.residentBytes;
      this.#cpuMs = use.cpuMs;
      if (use.residentBytes > this.#bounds.memoryBytesMax) this.end("too_large");
      else if (this.taskCpuMs > this.#bounds.taskCpuMsMax) this.end("timeout");
    };
    const timer = setInterval(() => void watch(), watchMs);
    return () => {
      clearInterval(timer);
      void watch();
    };
  }
}

const messages: Partial<Record<ReadFailure, string>> = {
  timeout: "the document takes too long to read",
  busy: "no processor was free to read it in time",
  too_large: "the document takes too much memory to read",
  crashed: "the process that read the document has ended",
};

/** Where memory is short, the system ends a child before the gateway. */
function preferEnding(pid: number): void {
  try {
    if (process.platform === "linux") writeFileSync(`/proc/${pid}/oom_score_adj`, "500");
  } catch {
    // It has ended already, or the system does not allow it.
  }
}

/** Of all its threads: on Linux each has a priority of its own. */
function lowerPriority(pid: number): void {
  try {
    const threads = process.platform === "linux" ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid];
    for (const thread of threads) setPriority(thread, limits.backgroundNiceness);
  } catch {
    // It has ended already, or the system does not allow it.
  }
}
