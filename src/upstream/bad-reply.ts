/**
 * Something came, but no reply that could be trusted: the upstream may have done what it was asked for. Nothing of what came
 * is in the message, which may be logged.
 */
export class BadReply extends Error {
  override readonly name = "BadReply";

  constructor(what: string, options?: ErrorOptions) {
    super(`The upstream's reply is not valid HTTP/1.1: ${what}.`, options);
  }
}
