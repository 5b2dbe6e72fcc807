/** A stored secret, or the key that it is encrypted with, cannot be used; the message is one line for an operator. */
export class SecretError extends Error {
  override name = "SecretError";
}
