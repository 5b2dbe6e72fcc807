/** From the browser's words for a failed navigation to ours. */
import { BrowserError, type BrowserFailure } from "../browser-error.ts";
import type { Verdict } from "../proxy/proxy-pass.ts";

interface NetworkFailure {
  codes: RegExp;
  failure: BrowserFailure;
  message: string;
}

/** The codes of Chromium's net_error_list.h that a navigation can end with; the first row that matches. */
const networkFailures: readonly NetworkFailure[] = [
  { codes: /^ERR_SSL_PROTOCOL_ERROR$/, failure: "unreachable", message: "it does not speak TLS" },
  { codes: /^ERR_(CERT_|SSL_|BAD_SSL|TLS)/, failure: "untrusted", message: "its certificate or its TLS is not valid" },
  { codes: /^ERR_TOO_MANY_REDIRECTS$/, failure: "redirects", message: "it redirects too often" },
  { codes: /^ERR_(TIMED_OUT|CONNECTION_TIMED_OUT)$/, failure: "timeout", message: "it took too long" },
  { codes: /^ERR_ABORTED$/, failure: "not_a_page", message: "it answers with a file or nothing instead of a page" },
  {
    codes: /^ERR_(UNSAFE_PORT|UNSAFE_REDIRECT|DISALLOWED_URL_SCHEME|UNKNOWN_URL_SCHEME|BLOCKED_BY_.*|INVALID_URL)$/,
    failure: "refused",
    message: "its address is not permitted",
  },
];

/** `text` is the browser's `net::ERR_…`; `verdict` is the judgement of the proxy on the same host. */
export function navigationError(text: string, verdict: Verdict | undefined): BrowserError {
  const [, code = ""] = /net::(ERR_\w+)/.exec(text) ?? [];
  const known = networkFailures.find(({ codes }) => codes.test(code));
  // The proxy knows why a connection failed. It knows nothing about its inside.
  if (verdict !== undefined && known?.failure !== "untrusted" && known?.failure !== "unreachable")
    return new BrowserError(verdict.failure, verdict.message);
  if (known !== undefined) return new BrowserError(known.failure, known.message);
  return new BrowserError("unreachable", "its host could not be reached, or broke off", { cause: code });
}
