export { WebhookDelivery } from "./delivery.ts";
export { messageOf, readMessage, signedHeaders, type FirecrawlEvent, WEBHOOK_JOB } from "./message.ts";
export { retryWaitMs } from "./retry-times.ts";
export { openWebhookSecretStore } from "./sql/open.ts";
export { WebhookError } from "./webhook-error.ts";
export { WebhookSecrets } from "./webhook-secrets.ts";
export { Webhooks } from "./webhooks.ts";
