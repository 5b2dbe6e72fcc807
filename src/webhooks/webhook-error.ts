/** Webhooks cannot be used as asked; the message is one line for an operator. */
export class WebhookError extends Error {
  override name = "WebhookError";
  /** The user has a secret already, or has replaced it just now, or there is no key to store one with; undefined for other reasons. */
  readonly reason: "has-secret" | "too-soon" | "no-key" | undefined;

  constructor(
    message: string,
    { reason, cause }: { reason?: "has-secret" | "too-soon" | "no-key"; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.reason = reason;
  }
}
