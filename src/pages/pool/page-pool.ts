import { strict as assert } from "node:assert";
import { availableParallelism } from "node:os";
import { Places, type QueueLoad, type RandomFraction, tooManyWaiting } from "../../core/index.ts";
import type { TextComparison } from "../changes/compare-texts.ts";
import type { Page, PageRequest } from "../page.ts";
import { PageError } from "../page-error.ts";
import type { Sitemap, SitemapRequest } from "../sitemap/sitemap.ts";
import { type ChildBounds, PageChild } from "./page-child.ts";
import type { PatternLists } from "./match-patterns.ts";
import { PatternTime } from "./pattern-time.ts";
import type { Result, Task } from "./tasks.ts";
import { WaitingBytes } from "./waiting-bytes.ts";

export interface PagePoolOptions extends Partial<ChildBounds> {
  /** Processes at once. Default: one for each core but one, which is the gateway's, and two at least: one user has one less. */
  children?: number;
  /** Documents that wait. */
  queueMax?: number;
  /** Bytes of the documents that wait; those of one owner have a quarter of them. */
  queueBytesMax?: number;
  /** How long a child without work is kept. */
  idleMs?: number;
  /** For the users that the children of a gateway of root become. */
  randomFraction?: RandomFraction;
}

export interface TakeApartOptions {
  /** The user who asks for it. */
  owner: string;
  signal?: AbortSignal | undefined;
  /** The time for it, its wait included. */
  timeoutMs?: number | undefined;
}

export interface ComparedTexts {
  previous: string;
  current: string;
  /** Whether the changed lines are wanted. */
  wantsChunks: boolean;
}

const defaults: Required<Omit<PagePoolOptions, "children">> = {
  taskMsMax: 60_000,
  taskCpuMsMax: 15_000,
  memoryBytesMax: 512 * 1024 * 1024,
  queueMax: 2_048,
  queueBytesMax: 256 * 1024 * 1024,
  idleMs: 60_000,
  randomFraction: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
};

const childrenMax = 8;

/** Pages of a PDF that are drawn at a time. */
export const picturesMax = 4;

/** The share of the bytes that wait which may be one owner's. */
const bytesShare = 1 / 4;

/** Memory above which a child is replaced after its task: garbage that is not given back would stay. */
const keptBytesMax = 256 * 1024 * 1024;

/** How long a child may go on with a task that nobody waits for. To start another takes about as long. */
const abandonedMsMax = 300;

interface Document {
  task: Task;
  bytes: Uint8Array;
  signal: AbortSignal;
}

/**
 * Takes documents apart in child processes: none holds up the gateway's own thread, and one that hangs or needs too much
 * memory ends its child and fails alone. Children start with the first document and end when there are none for a while.
 */
export class PagePool {
  readonly #options: Required<PagePoolOptions>;
  readonly #places: Places;
  readonly #idle: PageChild[] = [];
  readonly #children = new Set<PageChild>();
  readonly #waiting = new WaitingBytes();
  readonly #patternTime = new PatternTime();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: PagePoolOptions = {}) {
    const children = Math.max(2, Math.min(availableParallelism() - 1, childrenMax));
    this.#options = { ...defaults, children, ...options };
    this.#places = new Places({ what: "pages", places: this.#options.children });
  }

  /** The processes that run now. */
  get pids(): number[] {
    return [...this.#children].map(({ pid }) => pid);
  }

  get load(): QueueLoad {
    return this.#places;
  }

  /**
   * Takes a document apart.
   * @throws PageError; the reason of `signal`, at once, when it is aborted.
   */
  async takeApart(bytes: Uint8Array, request: PageRequest, options: TakeApartOptions): Promise<Page> {
    const result = await this.#run({ name: "page", request }, bytes, options);
    assert(result.name === "page");
    return result.page;
  }

  /**
   * Draws pages of a PDF, at most `picturesMax`, by their numbers from 1, as PNGs; one without anything on it has no bytes.
   * @throws PageError; the reason of `signal`, at once, when it is aborted.
   */
  async drawPdf(
    bytes: Uint8Array,
    pages: readonly number[],
    options: TakeApartOptions,
  ): Promise<readonly Uint8Array[]> {
    const result = await this.#run({ name: "pictures", request: { pages } }, bytes, options);
    assert(result.name === "pictures");
    return result.pictures;
  }

  /**
   * Reads a sitemap, a sitemap index, a feed or a list of addresses. Its entries are decoded while they are looped over.
   * @throws PageError; the reason of `signal`, at once, when it is aborted.
   */
  async readSitemap(bytes: Uint8Array, request: SitemapRequest, options: TakeApartOptions): Promise<Sitemap> {
    const result = await this.#run({ name: "sitemap", request }, bytes, options);
    assert(result.name === "sitemap");
    return result.sitemap;
  }

  /**
   * Compares addresses with patterns, which must be valid. Resolves with whether each of them is wanted, in their order; those
   * that would take too long are left out at the end, which all are once their owner's time of a minute is used up.
   * @throws PageError; the reason of `signal`, at once, when it is aborted.
   */
  async matchPatterns(
    addresses: readonly string[],
    patterns: PatternLists,
    options: TakeApartOptions,
  ): Promise<boolean[]> {
    const { owner } = options;
    const cpuMsMax = this.#patternTime.leftMs(owner);
    if (cpuMsMax <= 0) return [];
    const request = { ...patterns, cpuMsMax };
    try {
      const result = await this.#run({ name: "patterns", request }, Buffer.from(addresses.join("\n")), options);
      assert(result.name === "patterns");
      this.#patternTime.spend(owner, result.verdicts.cpuMs);
      return result.verdicts.wanted;
    } catch (reason) {
      if (reason instanceof PageError) this.#patternTime.spend(owner, reason.cpuMs);
      throw reason;
    }
  }

  /**
   * Compares two texts by their lines.
   * @throws PageError; the reason of `signal`, at once, when it is aborted.
   */
  async compareTexts(
    { previous, current, wantsChunks }: ComparedTexts,
    options: TakeApartOptions,
  ): Promise<TextComparison> {
    const older = Buffer.from(previous);
    const bytes = Buffer.concat([older, Buffer.from(current)]);
    const request = { previousBytes: older.byteLength, wantsChunks };
    const result = await this.#run({ name: "changes", request }, bytes, options);
    assert(result.name === "changes");
    return result.comparison;
  }

  /** Ends all children, and fails their tasks and those that wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    this.#places.close(closed());
    const children = [...this.#children];
    for (const child of children) child.end("crashed");
    await Promise.all(children.map(({ ended }) => ended));
  }

  async #run(task: Task, bytes: Uint8Array, options: TakeApartOptions): Promise<Result> {
    const { owner, signal, timeoutMs } = options;
    signal?.throwIfAborted();
    const deadline = timeoutMs === undefined ? undefined : AbortSignal.timeout(Math.max(timeoutMs, 1));
    const end = AbortSignal.any([signal, deadline].filter((each) => each !== undefined));
    let child: PageChild | undefined;
    try {
      const leave = await this.#enter(owner, bytes.length, end);
      child = this.#idle.pop() ?? this.#start();
      const result = this.#perform(child, { task, bytes, signal: end }).finally(leave);
      return await Promise.race([result, abortOf(end)]);
    } catch (reason) {
      if (signal?.aborted !== true && deadline?.aborted === true) throw late(child, reason);
      throw reason;
    }
  }

  /** Takes a place, as soon as there is one. */
  async #enter(owner: string, bytes: number, signal: AbortSignal): Promise<() => void> {
    if (this.#isClosed) throw closed();
    const [free] = this.#places.grab([{ owner }]);
    if (free !== undefined) return free.leave;
    const { queueMax, queueBytesMax } = this.#options;
    const { count, total } = this.#waiting;
    const owned = this.#waiting.of(owner);
    const isFull = count >= queueMax || (count > 0 && total + bytes > queueBytesMax);
    if (isFull) throw new PageError("busy", "too many documents wait to be read");
    if (owned > 0 && owned + bytes > queueBytesMax * bytesShare) throw tooManyWaiting("pages");
    const forget = this.#waiting.add(owner, bytes);
    try {
      return await this.#places.enter({ owner, signal });
    } finally {
      forget();
    }
  }

  #start(): PageChild {
    const child = new PageChild(this.#options, this.#options.randomFraction);
    this.#children.add(child);
    void child.ended.then(() => this.#forget(child));
    return child;
  }

  #forget(child: PageChild): void {
    this.#children.delete(child);
    const at = this.#idle.indexOf(child);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Resolves once the child is free or has ended. */
  async #perform(child: PageChild, { task, bytes, signal }: Document): Promise<Result> {
    let abandoned: ReturnType<typeof setTimeout> | undefined;
    const abandon = (): void => {
      abandoned = setTimeout(() => child.end("crashed"), abandonedMsMax);
    };
    signal.addEventListener("abort", abandon, { once: true });
    if (signal.aborted) abandon();
    try {
      return await child.run(task, bytes);
    } finally {
      signal.removeEventListener("abort", abandon);
      clearTimeout(abandoned);
      this.#reuse(child);
    }
  }

  #reuse(child: PageChild): void {
    if (!this.#children.has(child) || child.isEnding) return;
    if (child.residentBytes > keptBytesMax) child.end("crashed");
    else this.#idle.push(child);
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

/** Rejects with the reason of the signal, once it is aborted. */
function abortOf(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return promise;
}

/** The caller's time is over: a child has worked at the document, or none was free. */
function late(child: PageChild | undefined, cause: unknown): PageError {
  if (child?.hasBegun !== true) return new PageError("busy", "no process was free to read it in time", { cause });
  return new PageError("late", "it took too long", { cause, cpuMs: child.taskCpuMs });
}

function closed(): PageError {
  return new PageError("busy", "the gateway is stopping");
}
