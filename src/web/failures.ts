import { BrowserError, type BrowserFailure } from "../browser/index.ts";
import { type ErrorCode, GatewayError } from "../core/index.ts";
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
  crashed: "target_unreadable",
  malformed: "target_unreadable",
  selector: "validation_failed",
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
    const about = reason.failure === "selector" ? "includeTags, excludeTags" : "The page";
    return failed(byPage[reason.failure], `${about}: ${reason.message}.`, reason);
  }
  return reason;
}

function failed(code: ErrorCode, message: string, cause: Error, param: { param?: string } = {}): GatewayError {
  return new GatewayError(code, message, { cause, ...param });
}
