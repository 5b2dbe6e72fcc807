export type BrowserFailure =
  /** There is no browser, or it cannot be started. The message contains the remedy. */
  | "unavailable"
  /** No page was free in time. */
  | "busy"
  /** The URL, or an address that its host resolves to, is not permitted. */
  | "refused"
  /** The host has no address. */
  | "unresolved"
  /** The host cannot be reached, or broke off. */
  | "unreachable"
  /** The host's certificate is not valid, or its TLS is broken. */
  | "untrusted"
  | "redirects"
  | "timeout"
  /** An action failed: `action` is its index. */
  | "action"
  /** The address answers with a file or with nothing: a plain request can get it. */
  | "not_a_page"
  | "too_large"
  /** The page, or the browser, ended before the scrape did. */
  | "crashed";

export const browserFailures: readonly [BrowserFailure, ...BrowserFailure[]] = [
  "unavailable",
  "busy",
  "refused",
  "unresolved",
  "unreachable",
  "untrusted",
  "redirects",
  "timeout",
  "action",
  "not_a_page",
  "too_large",
  "crashed",
];

export interface BrowserErrorOptions extends ErrorOptions {
  /** The index of the action that failed. */
  action?: number | undefined;
  pageMs?: number;
  isLoaded?: boolean;
}

/** A page could not be rendered. The message is for the caller and does not contain the URL. */
export class BrowserError extends Error {
  override name = "BrowserError";
  readonly failure: BrowserFailure;
  readonly action: number | undefined;
  /** How long it had one of the browser's pages, in milliseconds. */
  readonly pageMs: number;
  /** Whether the page had loaded: from then on, the time is that of what the caller asks for. */
  readonly isLoaded: boolean;

  constructor(failure: BrowserFailure, message: string, options?: BrowserErrorOptions) {
    super(message, options);
    this.failure = failure;
    this.action = options?.action;
    this.pageMs = options?.pageMs ?? 0;
    this.isLoaded = options?.isLoaded ?? false;
  }
}
