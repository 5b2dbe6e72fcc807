import { z } from "@hono/zod-openapi";
import {
  cancelResponse,
  deleteResponse,
  getResponse,
  listInputItems,
  type StoredResponseCall,
  type StoredResponseDependencies,
} from "../../objects/index.ts";
import { platformRoute, type RouteCall } from "../route.ts";

const params = z.object({ response_id: z.string().describe("A response's id.") });
const notFound = "The caller has no such response.";
const response = z.looseObject({ id: z.string(), object: z.literal("response") }).meta({ id: "Response" });

const handledBy =
  (handle: (deps: StoredResponseDependencies, call: StoredResponseCall) => Promise<Response>) =>
  (call: RouteCall, services: StoredResponseDependencies): Promise<Response> =>
    handle(services, { ...call, id: call.pathParameter("response_id") });

export const getResponseRoute = platformRoute({
  contract: {
    path: "/v1/responses/{response_id}",
    operationId: "getResponse",
    tag: "Responses",
    summary: "A response of the caller that was kept.",
    params,
    query: z.object({
      stream: z.enum(["true", "false"]).optional().describe("Of a response in the background: its events."),
      starting_after: z.coerce.number().int().min(0).optional().describe("The number of the last event received."),
    }),
    answer: response,
    notFound,
    relays: true,
  },
  isGrouped: true,
  access: "token",
  handle: handledBy(getResponse),
});

export const cancelResponseRoute = platformRoute({
  contract: {
    method: "post",
    path: "/v1/responses/{response_id}/cancel",
    operationId: "cancelResponse",
    tag: "Responses",
    summary: "Cancels a response of the caller that runs in the background.",
    params,
    answer: response,
    notFound,
    relays: true,
  },
  isGrouped: true,
  access: "token",
  handle: handledBy(cancelResponse),
});

export const deleteResponseRoute = platformRoute({
  contract: {
    method: "delete",
    path: "/v1/responses/{response_id}",
    operationId: "deleteResponse",
    tag: "Responses",
    summary: "Forgets a response of the caller.",
    params,
    answer: z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) }),
    notFound,
    relays: true,
  },
  isGrouped: true,
  access: "token",
  handle: handledBy(deleteResponse),
});

export const listInputItemsRoute = platformRoute({
  contract: {
    path: "/v1/responses/{response_id}/input_items",
    operationId: "listInputItems",
    tag: "Responses",
    summary: "What a response of the caller was an answer to.",
    params,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).optional(),
      order: z.enum(["asc", "desc"]).optional(),
      after: z.string().optional(),
    }),
    answer: z.looseObject({ object: z.literal("list"), data: z.array(z.looseObject({})) }),
    notFound,
    relays: true,
  },
  isGrouped: true,
  access: "token",
  handle: handledBy(listInputItems),
});
