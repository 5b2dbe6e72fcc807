import type { Page, Request, Response } from "playwright-core";
import type { Deadline } from "./deadline.ts";

/** How long a click may take to begin a navigation. */
const BEGIN_MS = 100;

/** How long a navigation of the page's own may take before the current page counts. */
const NAVIGATION_MS_MAX = 10_000;

export interface FailedNavigation {
  url: string;
  /** The browser's `net::ERR_…`. */
  text: string;
}

/** The navigations of a page's main frame: the answer to the current document's request, and whether another is on its way. */
export class Navigations {
  /** Of the last navigation that was answered. */
  response: Response | undefined;
  /** The last navigation, if it failed. */
  failed: FailedNavigation | undefined;
  #pending: Request | undefined;
  #waiting: (() => void)[] = [];
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
    page.on("request", (request) => {
      if (this.#isOwn(request)) this.#pending = request;
    });
    page.on("response", (response) => {
      if (!this.#isOwn(response.request())) return;
      this.response = response;
      this.failed = undefined;
    });
    page.on("requestfailed", (request) => {
      if (!this.#isOwn(request)) return;
      const text = request.failure()?.errorText ?? "";
      if (!isEmptyAnswer(text)) this.failed = { url: request.url(), text };
      if (this.#pending === request) this.#end();
    });
    page.on("domcontentloaded", () => this.#end());
  }

  /** Waits for the navigation that an action may have begun. */
  async settled(deadline: Deadline): Promise<void> {
    await deadline.bound(Bun.sleep(BEGIN_MS));
    if (this.#pending === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await deadline.bound(Promise.race([promise, Bun.sleep(NAVIGATION_MS_MAX)]));
  }

  #end(): void {
    this.#pending = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #isOwn(request: Request): boolean {
    return request.isNavigationRequest() && request.frame() === this.#page.mainFrame();
  }
}

/** An error of the server without a body: the browser shows a page of its own instead, but it is an answer. */
export const isEmptyAnswer = (text: string): boolean => text.includes("ERR_HTTP_RESPONSE_CODE_FAILURE");
