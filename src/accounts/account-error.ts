/** Something that the accounts' rules don't allow; one line for the person who administrates them. */
export class AccountError extends Error {
  override name = "AccountError";
}
