/**
 * The browser's child process: Playwright, Chromium below it, and the proxy in front of it. It talks to the gateway over its
 * standard input and output, and ends when its input does, which happens also when the gateway is killed.
 */
import { rm } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { becomeUser, type RandomBytes } from "../../core/index.ts";
import { type AddressGuard, OutboundError } from "../../outbound/index.ts";
import { BrowserError } from "../browser-error.ts";
import { type Frame, frameOf, FrameReader } from "../../streaming/index.ts";
import type { FailureRecord, FromChild, StartMessage, ToChild } from "../driver/messages.ts";
import { recordOf } from "../driver/page-record.ts";
import { Deadline } from "../page/deadline.ts";
import { renderPage } from "../page/render-page.ts";
import { GuardedProxy } from "../proxy/guarded-proxy.ts";
import type { ChildPageRequest } from "../render-request.ts";
import { launchChromium } from "./launch-chromium.ts";
import { watchMemory } from "./watch-memory.ts";
import { whyNotStarted } from "./why-not-started.ts";

/** Requests are small; the gateway is trusted. */
const requestBounds = { bytesMax: 64 * 1024 * 1024, partsMax: 0 };

/** The browser's last processes may still write. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };

/** How long the browser may take to close. */
const CLOSE_MS_MAX = 5_000;

export interface ChildOptions {
  guardFor: (message: StartMessage) => AddressGuard;
  randomBytes: RandomBytes;
}

/** Runs until the input ends. */
export async function runChild(options: ChildOptions): Promise<void> {
  const child = new BrowserChild(options);
  const reader = new FrameReader(requestBounds, ({ text }) => child.receive(JSON.parse(text) as ToChild));
  for await (const bytes of Bun.stdin.stream()) reader.push(bytes);
  await child.end();
}

interface Running {
  guard: AddressGuard;
  browser: Browser;
  proxy: GuardedProxy;
  proxyAddress: string;
}

class BrowserChild {
  readonly #options: ChildOptions;
  readonly #deadlines = new Map<number, Deadline>();
  readonly #output = Bun.stdout.writer();
  #running: Promise<Running> | undefined;
  #folder: string | undefined;
  #isEnding = false;

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  receive(message: ToChild): void {
    switch (message.type) {
      case "start":
        void this.#begin(message);
        return;
      case "render":
        void this.#render(message.id, message.request);
        return;
      case "cancel":
        this.#deadlines.get(message.id)?.end(new BrowserError("timeout", "it was cancelled"));
        return;
    }
  }

  /** Ends the browser, removes its files and exits. */
  async end(): Promise<never> {
    this.#isEnding = true;
    for (const deadline of this.#deadlines.values()) deadline.end(new BrowserError("crashed", "the browser ended"));
    const closing = this.#running?.then(({ browser }) => browser.close());
    await Promise.race([closing?.catch(() => undefined), Bun.sleep(CLOSE_MS_MAX)]);
    if (this.#folder !== undefined) await rm(this.#folder, removal).catch(() => undefined);
    process.exit(0);
  }

  async #begin(message: StartMessage): Promise<void> {
    this.#folder = message.folder;
    this.#running = this.#start(message);
    try {
      const { browser } = await this.#running;
      // Nothing can be done without it; the gateway starts another child.
      browser.on("disconnected", () => {
        if (!this.#isEnding) giveUp();
      });
      await this.#send({ type: "ready" });
    } catch (cause) {
      await this.#send({ type: "unavailable", message: whyNotStarted(cause, message) });
    }
  }

  async #start(message: StartMessage): Promise<Running> {
    const { userId, folder, executable, sandbox, path } = message;
    if (userId !== undefined) becomeUser(userId);
    process.chdir(folder);
    const { randomBytes, guardFor } = this.#options;
    const guard = guardFor(message);
    const proxy = new GuardedProxy({ guard, randomBytes });
    const proxyAddress = await proxy.listen();
    const browser = await launchChromium({ executable, sandbox, folder, path, proxy: proxyAddress });
    watchMemory(() => this.#deadlines.size > 0);
    return { guard, browser, proxy, proxyAddress };
  }

  async #render(id: number, request: ChildPageRequest): Promise<void> {
    const deadline = new Deadline(request.timeoutMs);
    this.#deadlines.set(id, deadline);
    try {
      const { guard, browser, proxy, proxyAddress } = await deadline.bound(this.#started());
      // The proxy sees requests of pages, but not those that the browser would open by itself, such as files.
      guard.check(request.url);
      const onLoaded = (): void => void this.#send({ type: "loaded", id });
      const page = await renderPage({ browser, proxy, proxyAddress, request, deadline, onLoaded, onStuck: giveUp });
      const { record, parts } = recordOf(page);
      await this.#send({ type: "rendered", id, page: record }, parts);
    } catch (cause) {
      await this.#send({ type: "failed", id, failure: failureRecord(cause) });
    } finally {
      deadline.clear();
      this.#deadlines.delete(id);
    }
  }

  async #started(): Promise<Running> {
    if (this.#running === undefined) throw new BrowserError("unavailable", "the browser was not started");
    return await this.#running;
  }

  async #send(message: FromChild, parts: Frame["parts"] = []): Promise<void> {
    for (const piece of frameOf({ text: JSON.stringify(message), parts })) void this.#output.write(piece);
    await this.#output.flush();
  }
}

/** Ends the child at once: a new browser is better than none, or than one in which the remains of a page go on. */
const giveUp = (): never => process.exit(1);

function failureRecord(cause: unknown): FailureRecord {
  if (cause instanceof OutboundError) return { failure: cause.failure, message: cause.message };
  if (!(cause instanceof BrowserError)) return { failure: "crashed", message: "its page ended" };
  const { failure, message, action } = cause;
  return { failure, message, action };
}
