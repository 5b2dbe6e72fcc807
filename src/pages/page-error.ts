/** Why a document could not be taken apart. */
export type ReadFailure =
  /** No reader for this kind of document: an image, a video, an archive … */
  | "unsupported"
  /** The document, or its unpacked content, exceeds a bound. */
  | "too_large"
  /** It took longer than any document may. */
  | "timeout"
  /** It took longer than its caller allows. */
  | "late"
  /** It ended the process that read it, or took too much memory. */
  | "crashed"
  /** The bytes are not of the claimed kind, or are encrypted. */
  | "malformed"
  /** Too many documents wait already, or the gateway is stopping. */
  | "busy"
  /** A selector of the request is none. */
  | "selector"
  /** The request's selectors take too long on this document. */
  | "slow_selectors";

interface PageErrorOptions extends ErrorOptions {
  /** The processor time that was spent, as far as it is known. */
  cpuMs?: number;
}

/** A document that could not be taken apart. The message may be shown to the caller. */
export class PageError extends Error {
  override readonly name = "PageError";
  readonly failure: ReadFailure;
  readonly cpuMs: number;

  constructor(failure: ReadFailure, message: string, options: PageErrorOptions = {}) {
    super(message, options);
    this.failure = failure;
    this.cpuMs = options.cpuMs ?? 0;
  }
}
