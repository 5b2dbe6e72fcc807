/**
 * A reply that cannot be trusted: the upstream may have performed the request. The message contains nothing of the
 * reply, because it may be logged.
 */
export class BadReply extends Error {
  override readonly name = "BadReply";

  constructor(what: string, options?: ErrorOptions) {
    super(`The upstream's reply is not valid HTTP/1.1: ${what}.`, options);
  }
}
