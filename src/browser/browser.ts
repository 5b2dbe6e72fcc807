/**
 * Pages that need a browser. Scrapes wait in a queue for one of the pages at once; the first one starts the child process, and it
 * ends when there was none for a while.
 *
 *   render ──▶ queue ──▶ driver (child process: Playwright, proxy, Chromium) ──▶ page
 */
import type { RandomFraction } from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { BrowserError } from "./browser-error.ts";
import { Driver, type DriverEnd } from "./driver/driver.ts";
import { findChromium, isExecutable } from "./find-chromium.ts";
import { Deadline } from "./page/deadline.ts";
import type { ChildPageRequest, RenderedPage, RenderRequest } from "./render-request.ts";

/** Scrapes that wait for a page. */
const QUEUE_MAX = 200;

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
  readonly #queue = new Set<() => void>();
  readonly #drivers = new Set<Driver>();
  /** The driver for the next scrape, which may still be starting. */
  #current: { driver: Driver; started: Promise<void> } | undefined;
  #active = 0;
  #idleTimer: Timer | undefined;
  #isClosed = false;

  constructor(options: BrowserOptions) {
    this.#options = options;
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

  /** Rejects with a `BrowserError`, or with the reason of the signal. */
  async render({ signal, ...request }: RenderRequest): Promise<RenderedPage> {
    if (signal?.aborted === true) throw signal.reason;
    const deadline = new Deadline(request.timeoutMs);
    const listener = { handleEvent: () => deadline.end(signal?.reason) };
    signal?.addEventListener("abort", listener);
    try {
      const executable = this.#executable();
      await this.#enter(deadline);
      return await deadline.bound(this.#run(executable, request, deadline));
    } finally {
      signal?.removeEventListener("abort", listener);
      deadline.clear();
    }
  }

  /** Ends the scrapes that run or wait. Resolves once no process and no file of the browser is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    for (const enter of this.#queue) enter();
    await Promise.all([...this.#drivers].map((driver) => driver.stop()));
  }

  #executable(): string {
    const found = this.available();
    if (this.#isClosed) throw new BrowserError("unavailable", "the gateway stops");
    if ("missing" in found) throw new BrowserError("unavailable", found.missing);
    return found.executable;
  }

  /** Takes a page, as soon as one is free. */
  async #enter(deadline: Deadline): Promise<void> {
    clearTimeout(this.#idleTimer);
    if (this.#active < this.#options.pagesMax) {
      this.#active += 1;
      return;
    }
    if (this.#queue.size >= QUEUE_MAX) throw new BrowserError("busy", "too many pages wait for the browser");
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.add(resolve);
    try {
      await deadline.bound(promise);
    } catch (cause) {
      // It may have got its page in the same moment.
      if (!this.#queue.delete(resolve)) this.#leave();
      throw cause;
    }
  }

  /** Hands the page on, or gives it back. */
  #leave(): void {
    const [next] = this.#queue;
    if (next !== undefined) {
      this.#queue.delete(next);
      next();
      return;
    }
    this.#active -= 1;
    if (this.#active === 0 && !this.#isClosed) this.#rest();
  }

  /** The page is taken until the driver is done with it, also if nobody waits for it any longer. */
  async #run(executable: string, request: ChildPageRequest, deadline: Deadline): Promise<RenderedPage> {
    try {
      const driver = await this.#driver(executable);
      if (deadline.isOver) throw deadline.reasonOr(undefined);
      const page = driver.render({ ...request, timeoutMs: deadline.leftMs }, (cancel) => deadline.onEnd(cancel));
      return await page.finally(() => void this.#replaceOld(driver));
    } finally {
      this.#leave();
    }
  }

  async #driver(executable: string): Promise<Driver> {
    if (this.#isClosed) throw new BrowserError("unavailable", "the gateway stops");
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
