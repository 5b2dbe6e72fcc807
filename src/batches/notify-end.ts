import { batchObject, messageBatchObject } from "./batch-object.ts";
import type { BatchDependencies } from "./dependencies.ts";
import type { StoredBatch } from "./store.ts";

const types = {
  completed: "batch.completed",
  failed: "batch.failed",
  expired: "batch.expired",
  cancelled: "batch.cancelled",
} as const;

/** Notifies the address of a batch of its end, with the batch as its route returns it. May be repeated. */
export async function notifyEnd(
  { webhooks, publicUrl }: Pick<BatchDependencies, "webhooks" | "publicUrl">,
  batch: StoredBatch,
): Promise<void> {
  const { id, owner, kind, webhookUrl: url, status, endedAt: at } = batch;
  if (url === undefined || at === undefined) return;
  if (kind === "messages") {
    const data = messageBatchObject(batch, publicUrl);
    await webhooks.schedule({ id, owner, url, type: "message_batch.ended", data, at });
  } else if (status in types) {
    const type = types[status as keyof typeof types];
    await webhooks.schedule({ id, owner, url, type, data: batchObject(batch), at });
  }
}
