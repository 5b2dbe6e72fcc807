/** What came is no reply that could be trusted. Nothing of it is in the message, which may be logged. */
export class BadReply extends Error {
  override readonly name = "BadReply";

  constructor(what: string) {
    super(`The upstream's reply is not valid HTTP/1.1: ${what}.`);
  }
}
