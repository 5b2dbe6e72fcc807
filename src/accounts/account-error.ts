/** A violation of the accounts' rules; the message is one line for an administrator. */
export class AccountError extends Error {
  override name = "AccountError";
}
