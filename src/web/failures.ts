import { BrowserError, type BrowserFailure } from "../browser/index.ts";
import { type ErrorCode, GatewayError, type Usage } from "../core/index.ts";
import { OutboundError, type OutboundFailure } from "../outbound/index.ts";
import { PageError, type ReadFailure } from "../pages/index.ts";

const byOutbound: Readonly<Record<OutboundFailure, ErrorCode>> = {
  refused: "address_refused",
  unresolved: "target_unresolved",
  unreachable: "target_unreachable",
  untrusted: "target_untrusted",
  timeout: "target_timeout",
  too_large: "target_too_large",
  redirects: "target_redirects",
};

const byBrowser: Readonly<Record<BrowserFailure, ErrorCode>> = {
  unavailable: "browser_unavailable",
  busy: "web_busy",
  refused: "address_refused",
  unresolved: "target_unresolved",
  unreachable: "target_unreachable",
  untrusted: "target_untrusted",
  redirects: "target_redirects",
  timeout: "target_timeout",
  action: "action_failed",
  not_a_page: "target_unsupported",
  too_large: "target_too_large",
  crashed: "target_unreadable",
};

const byPage: Readonly<Record<ReadFailure, ErrorCode>> = {
  unsupported: "target_unsupported",
  too_large: "target_too_large",
  timeout: "target_unreadable",
  late: "target_timeout",
  crashed: "target_unreadable",
  malformed: "target_unreadable",
  selector: "validation_failed",
  slow_selectors: "selectors_too_slow",
  busy: "web_busy",
};

/** The error for a caller whose page could not be read. Errors of other kinds stay as they are. */
export function pageFailure(reason: unknown): unknown {
  if (reason instanceof OutboundError)
    return failed(byOutbound[reason.failure], `The page: ${reason.message}.`, reason);
  if (reason instanceof BrowserError) {
    const { failure, action, message } = reason;
    const param = action === undefined ? {} : { param: `actions.${action}` };
    return failed(
      byBrowser[failure],
      action === undefined ? `The page: ${message}.` : `actions.${action}: ${message}.`,
      reason,
      param,
    );
  }
  if (reason instanceof PageError) {
    const isOfSelectors = reason.failure === "selector" || reason.failure === "slow_selectors";
    const about = isOfSelectors ? "includeTags, excludeTags" : "The page";
    return failed(byPage[reason.failure], `${about}: ${reason.message}.`, reason);
  }
  return reason;
}

/** What a page that fails may take of us for nothing: processor time, and the time that it has a page of the browser. */
const FREE_CPU_MS = 1_000;
const FREE_PAGE_MS = 10_000;

/** What a caller asks for that can make a page fail by itself. */
interface CallersPart {
  hasOwnTimeout: boolean;
  actions: readonly unknown[];
  waitForMs: number;
}

/** A page that has failed by what its caller asked for, and has taken so much of us that it is charged like one that was read. */
export class ChargedFailure extends GatewayError {
  readonly usage: Usage = { pages: 1 };
}

/** The error of a page that is charged although it failed; undefined for any other failure, which costs nothing. */
export function chargedFailure(reason: unknown, asked: CallersPart): ChargedFailure | undefined {
  if (!isCallersFault(reason, asked)) return undefined;
  const error = pageFailure(reason);
  if (!(error instanceof GatewayError)) return undefined;
  const { code, message, param } = error;
  return new ChargedFailure(code, message, { cause: error.cause, ...(param !== undefined && { param }) });
}

/** How much earlier than a request its last part may end: parts get the time that is left, and timers are not exact. */
const EARLY_MS_MAX = 1_000;

/** The error of a request whose own time is over, which has a code of its own; any other error as it is. */
export function timeoutFailure(
  error: unknown,
  { code, leftMs }: { code: "scrape_timeout" | "map_timeout"; leftMs: number },
): unknown {
  if (!(error instanceof GatewayError) || error.code !== "target_timeout" || leftMs > EARLY_MS_MAX) return error;
  const Failure = error instanceof ChargedFailure ? ChargedFailure : GatewayError;
  return new Failure(code, error.message, { cause: error.cause });
}

function isCallersFault(reason: unknown, { hasOwnTimeout, actions, waitForMs }: CallersPart): boolean {
  if (reason instanceof PageError) {
    const { failure, cpuMs } = reason;
    return cpuMs > FREE_CPU_MS && (failure === "slow_selectors" || (failure === "late" && hasOwnTimeout));
  }
  if (!(reason instanceof BrowserError)) return false;
  const { failure, pageMs, isLoaded } = reason;
  const isAsked = actions.length > 0 || waitForMs > 0 || hasOwnTimeout;
  return pageMs > FREE_PAGE_MS && isLoaded && (failure === "action" || (failure === "timeout" && isAsked));
}

function failed(code: ErrorCode, message: string, cause: Error, param: { param?: string } = {}): GatewayError {
  return new GatewayError(code, message, { cause, ...param });
}
