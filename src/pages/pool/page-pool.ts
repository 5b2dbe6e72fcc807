import { strict as assert } from "node:assert";
import { availableParallelism } from "node:os";
import type { Page, PageRequest } from "../page.ts";
import { PageError } from "../page-error.ts";
import type { Sitemap, SitemapRequest } from "../sitemap/sitemap.ts";
import { type ChildBounds, PageChild } from "./page-child.ts";
import type { Result, Task } from "./tasks.ts";

export interface PagePoolOptions extends Partial<ChildBounds> {
  /** Processes at once. Default: one for each core but one, which is the gateway's. */
  children?: number;
  /** Documents that wait. */
  queueMax?: number;
  /** Bytes of the documents that wait. */
  queueBytesMax?: number;
  /** How long a child without work is kept. */
  idleMs?: number;
}

export interface TakeApartOptions {
  signal?: AbortSignal | undefined;
}

const defaults: Required<Omit<PagePoolOptions, "children">> = {
  taskMsMax: 60_000,
  taskCpuMsMax: 15_000,
  memoryBytesMax: 512 * 1024 * 1024,
  queueMax: 256,
  queueBytesMax: 256 * 1024 * 1024,
  idleMs: 60_000,
};

const childrenMax = 8;

/** Memory above which a child is replaced after its task: garbage that is not given back would stay. */
const keptBytesMax = 256 * 1024 * 1024;

/** How long a child may go on with a task that nobody waits for. To start another takes about as long. */
const abandonedMsMax = 300;

interface Waiting {
  task: Task;
  bytes: Uint8Array;
  signal: AbortSignal | undefined;
  result: PromiseWithResolvers<Result>;
}

/**
 * Takes documents apart in child processes: none holds up the gateway's own thread, and one that hangs or needs too much
 * memory ends its child and fails alone. Children start with the first document and end when there are none for a while.
 */
export class PagePool {
  readonly #options: Required<PagePoolOptions>;
  readonly #queue: Waiting[] = [];
  readonly #idle: PageChild[] = [];
  readonly #children = new Set<PageChild>();
  #queuedBytes = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: PagePoolOptions = {}) {
    const children = Math.max(1, Math.min(availableParallelism() - 1, childrenMax));
    this.#options = { ...defaults, children, ...options };
  }

  /** The processes that run now. */
  get pids(): number[] {
    return [...this.#children].map(({ pid }) => pid);
  }

  /** Starts a child, if none is there, so that it is ready when the document has arrived. */
  prepare(): void {
    if (this.#children.size === 0 && !this.#isClosed) this.#idle.push(this.#start());
    this.#watchIdle();
  }

  /**
   * Takes a document apart.
   * @throws PageError; the reason of `signal`, at once, when it is aborted.
   */
  async takeApart(bytes: Uint8Array, request: PageRequest, { signal }: TakeApartOptions = {}): Promise<Page> {
    const result = await this.#enqueue({ name: "page", request }, bytes, signal);
    assert(result.name === "page");
    return result.page;
  }

  /**
   * Reads a sitemap, a sitemap index, a feed or a list of addresses. Its entries are decoded while they are looped over.
   * @throws PageError; the reason of `signal`, at once, when it is aborted.
   */
  async readSitemap(bytes: Uint8Array, request: SitemapRequest, { signal }: TakeApartOptions = {}): Promise<Sitemap> {
    const result = await this.#enqueue({ name: "sitemap", request }, bytes, signal);
    assert(result.name === "sitemap");
    return result.sitemap;
  }

  /** Ends all children, and fails their tasks and those that wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    for (const { result } of this.#queue.splice(0)) result.reject(closed());
    const children = [...this.#children];
    for (const child of children) child.end("crashed");
    await Promise.all(children.map(({ ended }) => ended));
  }

  async #enqueue(task: Task, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closed();
    const { queueMax, queueBytesMax } = this.#options;
    const isFull =
      this.#queue.length >= queueMax || (this.#queue.length > 0 && this.#queuedBytes + bytes.length > queueBytesMax);
    if (isFull) throw new PageError("busy", "too many documents wait to be read");
    const waiting: Waiting = { task, bytes, signal, result: Promise.withResolvers() };
    const abort = (): void => this.#abort(waiting);
    signal?.addEventListener("abort", abort, { once: true });
    this.#queue.push(waiting);
    this.#queuedBytes += bytes.length;
    this.#dispatch();
    try {
      return await waiting.result.promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  #abort(waiting: Waiting): void {
    const at = this.#queue.indexOf(waiting);
    if (at >= 0) this.#take(at);
    waiting.result.reject(waiting.signal?.reason);
  }

  #take(at: number): Waiting | undefined {
    const [waiting] = this.#queue.splice(at, 1);
    this.#queuedBytes -= waiting?.bytes.length ?? 0;
    return waiting;
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && !this.#isClosed) {
      const child = this.#idle.pop() ?? (this.#children.size < this.#options.children ? this.#start() : undefined);
      if (child === undefined) return;
      const waiting = this.#take(0);
      if (waiting !== undefined) void this.#perform(child, waiting);
    }
  }

  #start(): PageChild {
    const child = new PageChild(this.#options);
    this.#children.add(child);
    void child.ended.then(() => this.#forget(child));
    return child;
  }

  #forget(child: PageChild): void {
    this.#children.delete(child);
    const at = this.#idle.indexOf(child);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#dispatch();
  }

  async #perform(child: PageChild, { task, bytes, signal, result }: Waiting): Promise<void> {
    let abandoned: ReturnType<typeof setTimeout> | undefined;
    const abandon = (): void => {
      abandoned = setTimeout(() => child.end("crashed"), abandonedMsMax);
    };
    signal?.addEventListener("abort", abandon, { once: true });
    try {
      result.resolve(await child.run(task, bytes));
    } catch (error) {
      result.reject(error);
    } finally {
      signal?.removeEventListener("abort", abandon);
      clearTimeout(abandoned);
    }
    this.#reuse(child);
  }

  #reuse(child: PageChild): void {
    if (!this.#children.has(child) || child.isEnding) return;
    if (child.residentBytes > keptBytesMax) child.end("crashed");
    else this.#idle.push(child);
    this.#dispatch();
    this.#watchIdle();
  }

  #watchIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      for (const child of this.#idle.splice(0)) child.end("crashed");
    }, this.#options.idleMs);
    this.#idleTimer.unref();
  }
}

function closed(): PageError {
  return new PageError("busy", "the gateway is stopping");
}
