import { z } from "@hono/zod-openapi";
import { file } from "../contract.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute, proxiedRoute } from "../route.ts";
import { type BatchServices, callerOf, withRequests } from "./read-json.ts";
import { messageBatch, messageBatchList, messageBatchRequest } from "./schemas.ts";

const tag = "Batches";
const surface = "anthropic";
const params = z.object({ message_batch_id: z.string().describe("A batch's id.") });
const path = "/v1/messages/batches/{message_batch_id}";
const notFound = "The caller has no such batch.";

const page = z.object({
  after_id: z.string().optional().describe("The id of the batch before the page."),
  before_id: z.string().optional().describe("The id of the batch behind the page."),
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
});

export const createMessageBatchRoute = proxiedRoute({
  contract: {
    path: "/v1/messages/batches",
    operationId: "createMessageBatch",
    tag,
    summary: "Begin a batch of Messages.",
    body: messageBatchRequest,
    streams: false,
    retryKey: false,
    answer: messageBatch,
    links: {
      batch: { operationId: "getMessageBatch", parameters: { message_batch_id: "$response.body#/id" } },
      cancellation: { operationId: "cancelMessageBatch", parameters: { message_batch_id: "$response.body#/id" } },
    },
  },
  surface,
  handle: (call, services: BatchServices) =>
    withRequests(call, services, async (body) =>
      Response.json(await services.batches.createOfMessages(callerOf(call), body)),
    ),
});

export const getMessageBatchRoute = platformRoute({
  contract: {
    path,
    operationId: "getMessageBatch",
    tag,
    summary: "A batch of Messages.",
    params,
    answer: messageBatch,
    notFound,
  },
  surface,
  access: "token",
  handle: async (call, { batches }: BatchServices) =>
    Response.json(await batches.get(callerOf(call), "messages", call.pathParameter("message_batch_id"))),
});

export const listMessageBatchesRoute = platformRoute({
  contract: {
    path: "/v1/messages/batches",
    operationId: "listMessageBatches",
    tag,
    summary: "The caller's batches of Messages, from the newest.",
    query: page,
    answer: messageBatchList,
    notFound,
  },
  surface,
  access: "token",
  handle: async (call, { batches }: BatchServices) => {
    const { after_id: after, before_id: before, limit } = parseQuery(call.request, page);
    const { data, hasMore } = await batches.list(callerOf(call), "messages", { after, before, limit });
    const [first_id, last_id] = [data[0]?.["id"] ?? null, data.at(-1)?.["id"] ?? null];
    return Response.json({ data, first_id, last_id, has_more: hasMore });
  },
});

export const cancelMessageBatchRoute = platformRoute({
  contract: {
    method: "post",
    path: `${path}/cancel`,
    operationId: "cancelMessageBatch",
    tag,
    summary: "Cancel a batch of Messages: those that are called already end, no other is begun.",
    params,
    answer: messageBatch,
    notFound,
  },
  surface,
  access: "token",
  handle: async (call, { batches }: BatchServices) =>
    Response.json(await batches.cancel(callerOf(call), "messages", call.pathParameter("message_batch_id"))),
});

export const messageBatchResultsRoute = platformRoute({
  contract: {
    path: `${path}/results`,
    operationId: "getMessageBatchResults",
    tag,
    summary: "The results of an ended batch of Messages, one a line, in any order.",
    params,
    answer: file,
    media: "application/x-jsonl",
    isStream: true,
    notFound: "The caller has no such batch, or it has not ended.",
  },
  surface,
  access: "token",
  handle: (call, { batches }: BatchServices) => batches.results(callerOf(call), call.pathParameter("message_batch_id")),
});

export const deleteMessageBatchRoute = platformRoute({
  contract: {
    method: "delete",
    path,
    operationId: "deleteMessageBatch",
    tag,
    summary: "Forget an ended batch of Messages, and its results.",
    params,
    answer: z.object({ id: z.string(), type: z.literal("message_batch_deleted") }),
    notFound,
    conflict: "The batch has not ended.",
  },
  surface,
  access: "token",
  handle: async (call, { batches }: BatchServices) =>
    Response.json(await batches.remove(callerOf(call), call.pathParameter("message_batch_id"))),
});
