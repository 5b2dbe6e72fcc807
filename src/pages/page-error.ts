/** Why a document could not be taken apart. */
export type ReadFailure =
  /** No reader for this kind of document: an image, a video, an archive … */
  | "unsupported"
  /** The document, or its unpacked content, exceeds a bound. */
  | "too_large"
  /** It took longer than allowed. */
  | "timeout"
  /** It ended the process that read it, or took too much memory. */
  | "crashed"
  /** The bytes are not of the claimed kind, or are encrypted. */
  | "malformed"
  /** Too many documents wait already, or the gateway is stopping. */
  | "busy"
  /** A selector of the request is none. */
  | "selector";

/** A document that could not be taken apart. The message may be shown to the caller. */
export class PageError extends Error {
  override readonly name = "PageError";
  readonly failure: ReadFailure;

  constructor(failure: ReadFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
