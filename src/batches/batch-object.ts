/** A batch as its API shows it. */
import type { JsonObject } from "../core/index.ts";
import type { StoredBatch } from "./store.ts";

const MS_PER_SECOND = 1_000;

const seconds = (at: number | undefined): number | null => (at === undefined ? null : Math.floor(at / MS_PER_SECOND));

/** As OpenAI shows it. */
export function batchObject(batch: StoredBatch): JsonObject {
  const { status, endedAt, errors, usage } = batch;
  const ended = (as: StoredBatch["status"]): number | null => (status === as ? seconds(endedAt) : null);
  const hasErrors = batch.failed + batch.expired > 0;
  return {
    id: batch.id,
    object: "batch",
    endpoint: batch.endpoint,
    ...(batch.model !== undefined && { model: batch.model }),
    errors: errors === undefined ? null : { object: "list", data: errors },
    input_file_id: batch.inputFileId,
    completion_window: batch.completionWindow,
    status,
    output_file_id: endedAt !== undefined && batch.succeeded > 0 ? batch.outputFileId : null,
    error_file_id: endedAt !== undefined && hasErrors ? batch.errorFileId : null,
    created_at: seconds(batch.createdAt),
    in_progress_at: seconds(batch.startedAt),
    expires_at: seconds(batch.expiresAt),
    finalizing_at: seconds(batch.finalizingAt),
    completed_at: ended("completed"),
    failed_at: ended("failed"),
    expired_at: ended("expired"),
    cancelling_at: seconds(batch.cancellingAt),
    cancelled_at: ended("cancelled"),
    request_counts: { total: batch.total, completed: batch.succeeded, failed: batch.failed + batch.expired },
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
    metadata: batch.metadata ?? null,
  };
}

const time = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());

/** A batch of Messages, as Anthropic shows it: its counts are told at its end. */
export function messageBatchObject(batch: StoredBatch, publicUrl: string): JsonObject {
  const { id, endedAt, total, succeeded, failed, cancelled, expired, cancellingAt } = batch;
  const hasEnded = endedAt !== undefined;
  return {
    id,
    type: "message_batch",
    processing_status: hasEnded ? "ended" : cancellingAt === undefined ? "in_progress" : "canceling",
    request_counts: hasEnded
      ? { processing: 0, succeeded, errored: failed, canceled: cancelled, expired }
      : { processing: total, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    created_at: time(batch.createdAt),
    expires_at: time(batch.expiresAt),
    ended_at: time(endedAt),
    cancel_initiated_at: time(cancellingAt),
    archived_at: null,
    results_url: hasEnded ? `${publicUrl}/v1/messages/batches/${id}/results` : null,
  };
}
