import { createRoute, z } from "@hono/zod-openapi";
import { limits } from "../core/index.ts";

/** Who may call a route: anybody, a caller with a token, or one whose token administrates. */
export type Access = "public" | "token" | "admin";

/** What the OpenAPI document says of a route. */
export type RouteContract = ReturnType<typeof createRoute>;

/** OpenAI's error body; the other surfaces' differ and are described where they are declared. */
const errorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      code: z.string().nullable(),
      param: z.string().nullable(),
    }),
  })
  .meta({ id: "Error" });

const meanings: Record<number, string> = {
  400: "Upstream error relayed.",
  401: "Unauthorized.",
  402: "Insufficient credits.",
  403: "The token does not administrate.",
  404: "Unsupported gateway route, or the upstream resource was not found.",
  413: "Request body exceeds the gateway body limit.",
  422: "Validation error.",
  502: "Upstream error.",
};

const errorResponse = (description: string) => ({
  description,
  content: { "application/json": { schema: errorSchema } },
});

function errorResponses(statuses: readonly number[]) {
  return Object.fromEntries(statuses.map((status) => [status, errorResponse(meanings[status] ?? "")]));
}

interface Described {
  /** With its parameters in braces: `/v1/responses/{response_id}`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
}

export interface PlatformContract extends Described {
  /** GET where it is left out. */
  method?: "get" | "delete" | "post" | "patch";
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** A JSON body, where the route takes one. */
  body?: z.ZodType;
  answer: z.ZodType;
  /** What 404 means on a route that has it. */
  notFound?: string;
}

/**
 * A route that the gateway answers by itself. Declares 401, 402, 422 and 502, as the contract does, and 413 where it takes
 * a body.
 */
export function platformContract(contract: PlatformContract, access: Access): RouteContract {
  const { method = "get", path, operationId, tag, summary, params, query, body, answer, notFound } = contract;
  return createRoute({
    method,
    path,
    operationId,
    tags: [tag],
    summary,
    ...(access === "public" ? { security: [] } : {}),
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body: { required: true, content: { "application/json": { schema: body } } } }),
    },
    responses: {
      200: { description: "Success.", content: { "application/json": { schema: answer } } },
      ...errorResponses([401, 402, 422, 502]),
      ...(access === "admin" ? errorResponses([403]) : {}),
      ...(body === undefined ? {} : errorResponses([413])),
      ...(notFound === undefined ? {} : { 404: errorResponse(notFound) }),
    },
  });
}

/** The pipeline reads it by itself: a key is refused with the field named, as a body is. */
const retryHeaders = z.object({
  "idempotency-key": z
    .string()
    .min(1)
    .max(limits.retryKeyCharactersMax)
    .optional()
    .describe(
      "The same key and body within 24 hours get the first answer again and are charged once; another body, or the " +
        "first call still running, gets 409.",
    ),
});

export interface ProxiedContract extends Described {
  /** A JSON body, where the route takes one. */
  body?: z.ZodType | undefined;
  /** A form with files, where the route takes one. */
  form?: z.ZodType;
  /** Whether `stream: true` turns the answer into server-sent events. */
  streams: boolean;
  /** Media types of whole answers that are no JSON. */
  answers?: readonly string[];
}

/** A `POST` whose answer is the upstream's. Declares the statuses that the contract lists for proxied routes. */
export function proxiedContract(contract: ProxiedContract): RouteContract {
  const { path, operationId, tag, summary, body, form, streams, answers = [] } = contract;
  const upstreamBody = z.looseObject({}).describe("The upstream's body, unchanged.");
  const others = Object.fromEntries(answers.map((type) => [type, { schema: type.startsWith("text/") ? text : file }]));
  const content = {
    "application/json": { schema: upstreamBody },
    ...others,
    ...(streams ? { "text/event-stream": { schema: text } } : {}),
  };
  const taken = {
    ...(body === undefined ? {} : { "application/json": { schema: body } }),
    ...(form === undefined ? {} : { "multipart/form-data": { schema: form } }),
  };
  return createRoute({
    method: "post",
    path,
    operationId,
    tags: [tag],
    summary,
    request: { headers: retryHeaders, body: { required: true, content: taken } },
    responses: {
      200: { description: "Success.", content },
      201: { description: "Created.", content: { "application/json": { schema: upstreamBody } } },
      ...errorResponses([400, 401, 402, 404, 413, 422, 502]),
    },
  });
}

const text = z.string();

/** A file in a form, or as an answer. */
export const file = z.any().meta({ type: "string", format: "binary" });
