import { z } from "@hono/zod-openapi";
import { parseQuery } from "../parse-query.ts";
import { platformRoute, proxiedRoute } from "../route.ts";
import { type BatchServices, callerOf, withJson } from "./read-json.ts";
import { batch, batchList, batchRequest } from "./schemas.ts";

const tag = "Batches";
const params = z.object({ batch_id: z.string().describe("A batch's id.") });
const notFound = "The caller has no such batch.";

const page = z.object({
  after: z.string().optional().describe("The id of the batch before the page."),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

export const createBatchRoute = proxiedRoute({
  contract: {
    path: "/v1/batches",
    operationId: "createBatch",
    tag,
    summary: "Begin a batch of calls.",
    body: batchRequest,
    streams: false,
    retryKey: false,
    answer: batch,
    links: {
      batch: { operationId: "getBatch", parameters: { batch_id: "$response.body#/id" } },
      cancellation: { operationId: "cancelBatch", parameters: { batch_id: "$response.body#/id" } },
    },
  },
  surface: "openai",
  handle: (call, services: BatchServices) =>
    withJson(call, services, {
      schema: batchRequest,
      use: async (body) => Response.json(await services.batches.create(callerOf(call), body)),
    }),
});

export const getBatchRoute = platformRoute({
  contract: {
    path: "/v1/batches/{batch_id}",
    operationId: "getBatch",
    tag,
    summary: "A batch.",
    params,
    answer: batch,
    notFound,
  },
  access: "token",
  handle: async (call, { batches }: BatchServices) =>
    Response.json(await batches.get(callerOf(call), "calls", call.pathParameter("batch_id"))),
});

export const listBatchesRoute = platformRoute({
  contract: {
    path: "/v1/batches",
    operationId: "listBatches",
    tag,
    summary: "The caller's batches, from the newest.",
    query: page,
    answer: batchList,
    notFound,
  },
  access: "token",
  handle: async (call, { batches }: BatchServices) => {
    const { data, hasMore } = await batches.list(callerOf(call), "calls", parseQuery(call.request, page));
    const [first_id, last_id] = [data[0]?.["id"] ?? null, data.at(-1)?.["id"] ?? null];
    return Response.json({ object: "list", data, first_id, last_id, has_more: hasMore });
  },
});

export const cancelBatchRoute = platformRoute({
  contract: {
    method: "post",
    path: "/v1/batches/{batch_id}/cancel",
    operationId: "cancelBatch",
    tag,
    summary: "Cancel a batch: lines that are called already end, no other is begun.",
    params,
    answer: batch,
    notFound,
    conflict: "The batch has ended.",
  },
  access: "token",
  handle: async (call, { batches }: BatchServices) =>
    Response.json(await batches.cancel(callerOf(call), "calls", call.pathParameter("batch_id"))),
});
