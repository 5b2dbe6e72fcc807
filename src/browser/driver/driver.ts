import { rm } from "node:fs/promises";
import { setPriority } from "node:os";
import { dirname } from "node:path";
import { limits, type RandomFraction, unprivilegedUser } from "../../core/index.ts";
import { BrowserError } from "../browser-error.ts";
import type { ChildPageRequest, RenderedPage } from "../render-request.ts";
import { createBrowserFolder } from "./browser-folder.ts";
import { endProcessesOf } from "./end-processes.ts";
import { type Frame, frameOf, FrameReader } from "../../streaming/index.ts";
import { fromChild, type ToChild } from "./messages.ts";
import { pageOf } from "./page-record.ts";

/** A page with its pictures and results. */
const answerBounds = { bytesMax: 192 * 1024 * 1024, partsMax: 512 };

/** How long the child may take to start the browser. */
const START_MS_MAX = 40_000;

/** How long the child may take to answer after the end of a scrape's time. */
const LATE_MS_MAX = 10_000;

/** How long the child may take to end. */
const STOP_MS_MAX = 8_000;

/** Characters of the child's last words that are kept for the log. */
const LAST_WORDS_MAX = 2_000;

export interface DriverEnd {
  /** It was stopped. */
  isExpected: boolean;
  /** The last output of the child. */
  lastWords: string;
}

export interface DriverOptions {
  /** The program of the child process. */
  script: string;
  executable: string;
  sandbox: boolean;
  /** The variable `PATH`. */
  path: string;
  allowPrivateHosts: readonly string[];
  allowPorts: readonly number[];
  randomFraction: RandomFraction;
  /** Called once, when the child has ended. */
  onEnd: (end: DriverEnd) => void;
}

interface Waiting {
  resolve: (page: RenderedPage) => void;
  reject: (cause: BrowserError) => void;
  onLoaded: () => void;
}

interface RenderListeners {
  /** Gets a function that cancels the scrape. */
  onBegun: (cancel: () => void) => void;
  /** Called when the page has loaded. */
  onLoaded: () => void;
}

/** One child process with its browser. It is started once, and ends once: by `stop`, or by a crash. */
export class Driver {
  readonly #options: DriverOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ready = Promise.withResolvers<void>();
  #child: Bun.Subprocess<"pipe", "pipe", "pipe"> | undefined;
  #ended: Promise<void> = Promise.resolve();
  #lastId = 0;
  #isOver = false;
  #isStopped = false;
  #lastWords = "";

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#ready.promise.catch(() => undefined);
  }

  /** False once it takes no further scrapes. */
  get isUsable(): boolean {
    return !this.#isOver;
  }

  /** Scrapes that run. */
  get active(): number {
    return this.#waiting.size;
  }

  /** Scrapes that were begun. */
  get begun(): number {
    return this.#lastId;
  }

  /** Rejects with a `BrowserError`. */
  async start(): Promise<void> {
    const { script, executable, sandbox, path, allowPrivateHosts, allowPorts, randomFraction } = this.#options;
    const userId = unprivilegedUser(randomFraction);
    const folder = await createBrowserFolder(userId).catch((cause: unknown) => {
      this.#isOver = true;
      this.#options.onEnd({ isExpected: true, lastWords: "" });
      throw cause;
    });
    // None of the gateway's variables, some of which are keys. Bun would read a .env file of the working directory.
    const env = { PATH: path, HOME: folder, TMPDIR: folder, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };
    const stdio = { stdin: "pipe", stdout: "pipe", stderr: "pipe" } as const;
    const child = Bun.spawn([process.execPath, script], { ...stdio, env, cwd: dirname(script) });
    this.#child = child;
    lowerPriority(child.pid);
    this.#ended = this.#follow(child, folder);
    this.#send({ type: "start", executable, sandbox, folder, userId, path, allowPrivateHosts, allowPorts });
    const timer = setTimeout(() => this.#fail("Chromium was not started in time"), START_MS_MAX);
    await this.#ready.promise.finally(() => clearTimeout(timer));
  }

  /** Rejects with a `BrowserError`. */
  async render(request: ChildPageRequest, { onBegun, onLoaded }: RenderListeners): Promise<RenderedPage> {
    if (this.#isOver) throw crashed();
    const id = (this.#lastId += 1);
    const { promise, resolve, reject } = Promise.withResolvers<RenderedPage>();
    this.#waiting.set(id, { resolve, reject, onLoaded });
    const timer = setTimeout(() => this.#kill(), request.timeoutMs + LATE_MS_MAX);
    onBegun(() => this.#send({ type: "cancel", id }));
    this.#send({ type: "render", id, request });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Resolves once no process and no file of it is left. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#isStopped = true;
    const timer = setTimeout(() => this.#kill(), STOP_MS_MAX);
    await this.#child?.stdin.end();
    await this.#ended;
    clearTimeout(timer);
  }

  async #follow(child: Bun.Subprocess<"pipe", "pipe", "pipe">, folder: string): Promise<void> {
    await Promise.allSettled([this.#read(child.stdout), this.#listen(child.stderr), child.exited]);
    this.#isOver = true;
    endProcessesOf(folder);
    // The browser may still write while it ends.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }).catch(() => undefined);
    this.#ready.reject(new BrowserError("unavailable", "Chromium was not started: its child process ended"));
    for (const { reject } of this.#waiting.values()) reject(crashed());
    this.#options.onEnd({ isExpected: this.#isStopped, lastWords: this.#lastWords });
  }

  async #read(output: ReadableStream<Uint8Array>): Promise<void> {
    const reader = new FrameReader(answerBounds, (frame) => this.#receive(frame));
    try {
      for await (const bytes of output) reader.push(bytes);
    } catch {
      // Not one of our messages: the child is broken, or somebody else's.
      this.#kill();
    }
  }

  async #listen(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of output)
      this.#lastWords = (this.#lastWords + decoder.decode(bytes)).slice(-LAST_WORDS_MAX);
  }

  #receive({ text, parts }: Frame): void {
    const message = fromChild.parse(JSON.parse(text));
    switch (message.type) {
      case "ready":
        return this.#ready.resolve();
      case "unavailable":
        return this.#fail(message.message);
      case "loaded":
        return this.#waiting.get(message.id)?.onLoaded();
      case "rendered":
        return this.#waiting.get(message.id)?.resolve(pageOf(message.page, parts));
      case "failed": {
        const { failure, message: why, action } = message.failure;
        return this.#waiting.get(message.id)?.reject(new BrowserError(failure, why, { action }));
      }
    }
  }

  #fail(message: string): void {
    this.#isOver = true;
    this.#ready.reject(new BrowserError("unavailable", message));
    this.#kill();
  }

  #send(message: ToChild): void {
    const { stdin } = this.#child ?? {};
    if (stdin === undefined) return;
    const written = frameOf({ text: JSON.stringify(message), parts: [] }).map((piece) => stdin.write(piece));
    // If the child is gone, that ends everything that waits for it.
    void Promise.all([...written, stdin.flush()]).catch(() => undefined);
  }

  #kill(): void {
    this.#child?.kill("SIGKILL");
  }
}

/** The gateway, and its other callers, come first where cores are few. The browser inherits it. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, limits.backgroundNiceness);
  } catch {
    // It ended already, or the system does not permit it.
  }
}

function crashed(): BrowserError {
  return new BrowserError("crashed", "the browser ended");
}
