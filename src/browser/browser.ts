/**
 * Pages that need a browser. Scrapes wait for one of the pages at once, which their users share; the first one starts the child
 * process, and it ends when there was none for a while.
 *
 *   render ──▶ places ──▶ driver (child process: Playwright, proxy, Chromium) ──▶ page
 */
import { Places, type QueueLoad, type RandomFraction } from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { BrowserError } from "./browser-error.ts";
import { Driver, type DriverEnd } from "./driver/driver.ts";
import { findChromium, isExecutable } from "./find-chromium.ts";
import { Deadline } from "./page/deadline.ts";
import type { ChildPageRequest, RenderedPage, RenderRequest } from "./render-request.ts";

/** Scrapes after which a browser is replaced: it never gives all of its memory back. */
const SCRAPES_MAX = 500;

export interface BrowserOptions {
  /** False: no page is rendered. */
  isEnabled: boolean;
  /** Undefined: the first one that is found in the usual places. */
  executable: string | undefined;
  /** Chromium's own sandbox. Without it, a page that takes over its process has the rights of the browser's user. */
  sandbox: boolean;
  /** Pages at a time. */
  pagesMax: number;
  /** How long a browser without scrapes is kept. */
  idleMs: number;
  /** As of `web.allow_private_hosts` and `web.allow_ports`. */
  allowPrivateHosts: readonly string[];
  allowPorts: readonly number[];
  /** The program of the child process: one that calls `runBrowserChild`. */
  script: string;
  /** The variable `PATH`. */
  path: string;
  randomFraction: RandomFraction;
  logger: Logger;
}

export type BrowserAvailability = { executable: string } | { missing: string };

export class Browser {
  readonly #options: BrowserOptions;
  readonly #places: Places;
  readonly #drivers = new Set<Driver>();
  /** The driver for the next scrape, which may still be starting. */
  #current: { driver: Driver; started: Promise<void> } | undefined;
  #idleTimer: Timer | undefined;
  #isClosed = false;

  constructor(options: BrowserOptions) {
    this.#options = options;
    this.#places = new Places({ what: "browser pages", places: options.pagesMax });
  }

  get load(): QueueLoad {
    return this.#places;
  }

  /** The executable, or the steps for an operator to have one. Whether it starts is known after the first scrape only. */
  available(): BrowserAvailability {
    const { isEnabled, executable, path } = this.#options;
    if (!isEnabled) return { missing: "the browser is switched off in the configuration" };
    if (executable !== undefined) {
      return isExecutable(executable) ? { executable } : { missing: `${executable} is not an executable file` };
    }
    const found = findChromium(path);
    return found === undefined
      ? { missing: "this needs Chromium, which is not on this machine: apt-get install chromium" }
      : { executable: found };
  }

  /** Rejects with a `BrowserError`, with 429 if too many scrapes of the user wait, or with the reason of the signal. */
  async render({ signal, owner, ...request }: RenderRequest): Promise<RenderedPage> {
    if (signal?.aborted === true) throw signal.reason;
    const deadline = new Deadline(request.timeoutMs);
    const listener = { handleEvent: () => deadline.end(signal?.reason) };
    signal?.addEventListener("abort", listener);
    try {
      const executable = this.#executable();
      const leave = await this.#enter(owner, deadline);
      const run = new PageRun(request, deadline);
      return await run.measure(deadline.bound(this.#run(executable, run).finally(leave)));
    } finally {
      signal?.removeEventListener("abort", listener);
      deadline.clear();
    }
  }

  /** Ends the scrapes that run or wait. Resolves once no process and no file of the browser is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    this.#places.close(stopping());
    await Promise.all([...this.#drivers].map((driver) => driver.stop()));
  }

  #executable(): string {
    const found = this.available();
    if (this.#isClosed) throw stopping();
    if ("missing" in found) throw new BrowserError("unavailable", found.missing);
    return found.executable;
  }

  /** Takes a page, as soon as one is free. Resolves with the function that gives it back. */
  async #enter(owner: string, deadline: Deadline): Promise<() => void> {
    clearTimeout(this.#idleTimer);
    const wait = new AbortController();
    deadline.onEnd(() => wait.abort(notFree(deadline.reasonOr(undefined))));
    const leave = await this.#places.enter({ owner, signal: wait.signal });
    return () => {
      leave();
      if (this.#places.running === 0 && !this.#isClosed) this.#rest();
    };
  }

  /** The page is taken until the driver is done with it, also if nobody waits for it any longer. */
  async #run(executable: string, { request, deadline, onLoaded }: PageRun): Promise<RenderedPage> {
    const driver = await this.#driver(executable);
    if (deadline.isOver) throw deadline.reasonOr(undefined);
    const onBegun = (cancel: () => void): void => deadline.onEnd(cancel);
    const page = driver.render({ ...request, timeoutMs: deadline.leftMs }, { onBegun, onLoaded });
    return await page.finally(() => void this.#replaceOld(driver));
  }

  async #driver(executable: string): Promise<Driver> {
    if (this.#isClosed) throw stopping();
    const isGood = this.#current?.driver.isUsable === true && this.#current.driver.begun < SCRAPES_MAX;
    if (!isGood || this.#current === undefined) this.#current = this.#start(executable);
    const { driver, started } = this.#current;
    await started;
    return driver;
  }

  #start(executable: string): { driver: Driver; started: Promise<void> } {
    const { logger, ...options } = this.#options;
    const onEnd = ({ isExpected, lastWords }: DriverEnd): void => {
      this.#drivers.delete(driver);
      if (!isExpected) logger.warn({ last_words: lastWords }, "the browser ended");
    };
    const driver = new Driver({ ...options, executable, onEnd });
    this.#drivers.add(driver);
    return { driver, started: driver.start() };
  }

  /** A driver that had its share of scrapes ends with its last one. */
  async #replaceOld(driver: Driver): Promise<void> {
    if (driver.begun >= SCRAPES_MAX && driver.active === 0) await driver.stop();
  }

  #rest(): void {
    this.#idleTimer = setTimeout(() => {
      this.#current = undefined;
      for (const driver of this.#drivers) void driver.stop();
    }, this.#options.idleMs);
    this.#idleTimer.unref();
  }
}

/** One scrape that has its page. */
class PageRun {
  readonly request: ChildPageRequest;
  readonly deadline: Deadline;
  readonly #begunAt = performance.now();
  #isLoaded = false;

  constructor(request: ChildPageRequest, deadline: Deadline) {
    this.request = request;
    this.deadline = deadline;
  }

  readonly onLoaded = (): void => {
    this.#isLoaded = true;
  };

  /** A failure says how long it had the page, and whether that had loaded. */
  async measure(page: Promise<RenderedPage>): Promise<RenderedPage> {
    try {
      return await page;
    } catch (reason) {
      if (!(reason instanceof BrowserError)) throw reason;
      const { failure, message, action, cause } = reason;
      const pageMs = performance.now() - this.#begunAt;
      throw new BrowserError(failure, message, { action, cause, pageMs, isLoaded: this.#isLoaded });
    }
  }
}

/** The time of a scrape that is over before it has a page says nothing of its target. */
function notFree(reason: unknown): unknown {
  const isLate = reason instanceof BrowserError && reason.failure === "timeout";
  return isLate ? new BrowserError("busy", "no page of the browser was free in time", { cause: reason }) : reason;
}

function stopping(): BrowserError {
  return new BrowserError("unavailable", "the gateway stops");
}
