/** Webhooks cannot be used as asked; the message is one line for an operator. */
export class WebhookError extends Error {
  override name = "WebhookError";
}
