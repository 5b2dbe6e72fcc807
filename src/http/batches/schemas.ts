import { z } from "@hono/zod-openapi";

const seconds = z.int().nullable();

const webhookUrl = z
  .url()
  .optional()
  .describe("Is sent a signed message when the batch has ended. A secret is needed.");

export const batchRequest = z
  .object({
    input_file_id: z.string().describe("A file of the caller's with the purpose `batch`."),
    endpoint: z
      .enum([
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/embeddings",
        "/v1/completions",
        "/v1/moderations",
        "/v1/images/generations",
        "/v1/images/edits",
      ])
      .describe("The route that all lines are calls of."),
    completion_window: z
      .string()
      .regex(/^(?:[1-9]|[1-9]\d|1[0-5]\d|16[0-8])h$/)
      .describe("How long the batch may take, in hours: `24h`, or `1h` to `168h`."),
    metadata: z
      .record(z.string().max(64), z.string().max(512))
      .refine((pairs) => Object.keys(pairs).length <= 16, "at most 16 pairs")
      .nullish()
      .describe("Up to 16 pairs, which the batch shows."),
    webhook_url: webhookUrl,
  })
  .meta({ id: "BatchRequest" });

const inputError = z.object({
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  line: z.int().nullable().describe("From 1."),
});

export const batch = z
  .looseObject({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.string(),
    model: z.string().optional().describe("The model of all lines, if it is one."),
    errors: z
      .object({ object: z.literal("list"), data: z.array(inputError) })
      .nullable()
      .describe("Why the batch failed, before its first call."),
    input_file_id: z.string(),
    completion_window: z.string(),
    status: z.enum([
      "validating",
      "failed",
      "in_progress",
      "finalizing",
      "completed",
      "expired",
      "cancelling",
      "cancelled",
    ]),
    output_file_id: z.string().nullable().describe("Results of the lines that ended well."),
    error_file_id: z
      .string()
      .nullable()
      .describe("Results of the lines that failed or expired. Lines that a cancelled batch did not call have none."),
    created_at: z.int(),
    in_progress_at: seconds,
    expires_at: z.int(),
    finalizing_at: seconds,
    completed_at: seconds,
    failed_at: seconds,
    expired_at: seconds,
    cancelling_at: seconds,
    cancelled_at: seconds,
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
    metadata: z.record(z.string(), z.string()).nullable(),
  })
  .meta({ id: "Batch" });

export const batchList = z
  .object({
    object: z.literal("list"),
    data: z.array(batch),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "BatchList" });

const time = z.string().nullable();

/** One request of a batch of Messages. */
export const messageRequest = z.object({
  custom_id: z.string().regex(/^[\w-]{1,64}$/),
  params: z
    .looseObject({ model: z.string().min(1), stream: z.literal(false).optional() })
    .describe("The body of a call of /v1/messages."),
});

export const messageBatchRequest = z
  .object({
    requests: z.array(messageRequest).min(1),
    webhook_url: webhookUrl,
  })
  .meta({ id: "MessageBatchRequest" });

export const messageBatch = z
  .object({
    id: z.string(),
    type: z.literal("message_batch"),
    processing_status: z.enum(["in_progress", "canceling", "ended"]),
    request_counts: z.object({
      processing: z.int(),
      succeeded: z.int(),
      errored: z.int(),
      canceled: z.int(),
      expired: z.int(),
    }),
    created_at: z.string(),
    expires_at: z.string(),
    ended_at: time,
    cancel_initiated_at: time,
    archived_at: time,
    results_url: time,
  })
  .meta({ id: "MessageBatch" });

export const messageBatchList = z
  .object({
    data: z.array(messageBatch),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "MessageBatchList" });
