export type OutboundFailure =
  /** The URL, or an address that its host resolves to, is not permitted. */
  | "refused"
  /** The host has no address. */
  | "unresolved"
  /** The host, or the resolver of its name, cannot be reached, or broke off. */
  | "unreachable"
  /** The host's certificate is not trusted. */
  | "untrusted"
  | "timeout"
  | "too_large"
  | "redirects";

/** A request to an address that a caller chose failed. The message is for the caller and does not contain the URL. */
export class OutboundError extends Error {
  override name = "OutboundError";
  readonly failure: OutboundFailure;
  /** Whether a server had answered before: with a redirect, or with the beginning of its answer. */
  hasAnswered = false;

  constructor(failure: OutboundFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
