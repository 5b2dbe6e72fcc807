/**
 * A connection that had been idle closed without a byte of a reply: the upstream has perhaps closed it before the request came.
 * That says nothing about its health.
 */
export class StaleConnection extends Error {
  override readonly name = "StaleConnection";

  constructor(cause: unknown) {
    super("The upstream closed an idle connection.", { cause });
  }
}
