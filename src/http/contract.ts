import { createRoute, z } from "@hono/zod-openapi";
import { limits, type Surface } from "../core/index.ts";
import { answerHeaders } from "./answer-headers.ts";
import { errorSchemas } from "./error-schemas.ts";

/** The permitted callers: anyone, a caller with a token, or one whose token has one of the route's roles. */
export type Access = "public" | "token" | "roles";

/** The route's part of the OpenAPI document. */
export type RouteContract = ReturnType<typeof createRoute>;

const meanings: Record<number, string> = {
  400: "Upstream error relayed.",
  401: "Unauthorized.",
  402: "Insufficient credits.",
  403: "The token's role may not do this.",
  404: "Unsupported gateway route, or the upstream resource was not found.",
  409: "The `idempotency-key` belongs to another body, or its first call is still running.",
  413: "Request body exceeds the gateway body limit.",
  422: "Validation error.",
  426: "The request is no handshake of a WebSocket.",
  429: "Too many sessions of the token are open, or a limit of the token is reached.",
  502: "Upstream error.",
  503: "The server is stopping, or its storage is unavailable.",
};

/** Every answer has it. The component is in the document. */
const headers = { "x-request-id": { $ref: "#/components/headers/RequestId" } };

/** Those of a paid call, of which an answer has some. */
const paidHeaders = { ...headers, ...referencesTo(() => true) };
const paidErrorHeaders = { ...headers, ...referencesTo(({ inErrors }) => inErrors) };

function referencesTo(isIncluded: (header: (typeof answerHeaders)[string]) => boolean) {
  const names = Object.entries(answerHeaders).flatMap(([name, header]) => (isIncluded(header) ? [name] : []));
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const errorResponse = (
  description: string,
  surface: Surface = "openai",
  declared: Readonly<Record<string, { $ref: string }>> = headers,
) => ({
  description,
  headers: declared,
  content: { "application/json": { schema: errorSchemas[surface] } },
});

function errorResponses(
  statuses: readonly number[],
  surface?: Surface,
  declared?: Readonly<Record<string, { $ref: string }>>,
) {
  return Object.fromEntries(
    statuses.map((status) => [status, errorResponse(meanings[status] ?? "", surface, declared)]),
  );
}

/** The errors that have a meaning here. */
function describedErrors(described: Readonly<Record<number, string | undefined>>, surface: Surface) {
  return Object.fromEntries(
    Object.entries(described).flatMap(([status, meaning]) =>
      meaning === undefined ? [] : [[Number(status), errorResponse(meaning, surface)] as const],
    ),
  );
}

interface Described {
  /** With its parameters in braces: `/v1/responses/{response_id}`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
}

export interface PlatformContract extends Described {
  /** GET by default. */
  method?: "get" | "delete" | "post" | "patch" | "put";
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** The JSON body, if the route accepts one. */
  body?: z.ZodType;
  /** Another media type in which the body may be sent, as text. */
  textBody?: string;
  answer: z.ZodType;
  /** The media type of the answer if it is not JSON. Parts of it can be requested then, unless it is written while it is made. */
  media?: string;
  isStream?: boolean;
  /** Media types of text that its answer has if they are asked for. */
  otherAnswers?: readonly string[];
  /** The meaning of 404, if the route can return it. */
  notFound?: string;
  /** The meaning of 409, if the route can return it. */
  conflict?: string;
  /** The meaning of 412, if the route reads `if-match`. */
  precondition?: string;
  /** The request's headers that it reads. */
  requestHeaders?: z.ZodObject;
  /** Whether it is one of the contract's proxied routes: a provider may answer, whose errors are relayed. */
  relays?: boolean;
  /** The meaning of 503, if it is an answer of the route itself. */
  unavailable?: string;
  /** The meaning of 403, if a public route can return it. */
  forbidden?: string;
  /** The meaning of 429, if the route can return it. */
  limited?: string;
}

/** A route answered by the gateway itself. Declares 401, 402, 422 and 502, as in the contract. */
export function platformContract(
  contract: PlatformContract,
  access: Access,
  surface: Surface = "openai",
): RouteContract {
  const {
    method = "get",
    path,
    operationId,
    tag,
    summary,
    params,
    query,
    body,
    textBody,
    answer,
    media,
    isStream = false,
    otherAnswers = [],
    notFound,
    conflict,
    precondition,
    requestHeaders,
    relays = false,
    unavailable,
    forbidden,
    limited,
  } = contract;
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
      ...(requestHeaders === undefined ? {} : { headers: requestHeaders }),
      ...(body === undefined ? {} : { body: { required: true, content: contentOf(body, textBody) } }),
    },
    responses: {
      200: {
        description: "Success.",
        headers,
        content: { [media ?? "application/json"]: { schema: answer }, ...textsOf(otherAnswers) },
      },
      ...(media === undefined || isStream
        ? {}
        : { 206: { description: "A part.", headers, content: { [media]: { schema: answer } } } }),
      ...errorResponses([401, 402, 422, 502], surface),
      ...(access === "roles" ? errorResponses([403], surface) : {}),
      ...(relays ? errorResponses([400, 413], surface) : {}),
      ...describedErrors(
        { 403: forbidden, 404: notFound, 409: conflict, 412: precondition, 429: limited, 503: unavailable },
        surface,
      ),
    },
  });
}

function textsOf(media: readonly string[]) {
  return Object.fromEntries(media.map((type) => [type, { schema: text }]));
}

function contentOf(body: z.ZodType, textBody: string | undefined) {
  return {
    "application/json": { schema: body },
    ...(textBody !== undefined && { [textBody]: { schema: z.string() } }),
  };
}

export interface SocketContract extends Described {
  query: z.ZodObject;
  /** The messages that are sent over the socket. */
  description: string;
}

/** The handshake of a WebSocket: the document can describe no more of it. */
export function socketContract({ path, operationId, tag, summary, description, query }: SocketContract): RouteContract {
  const responses = {
    101: { description: "Switching protocols: the WebSocket is open.", headers },
    ...errorResponses([401, 402, 404, 422, 426, 429, 502, 503]),
  };
  return createRoute({
    method: "get",
    path,
    operationId,
    tags: [tag],
    summary,
    description,
    request: { query },
    responses,
  });
}

/** The pipeline reads it: an invalid key is refused with the name of the field, like a body. */
const retryHeaders = z.object({
  "idempotency-key": z
    .string()
    .min(1)
    .max(limits.retryKeyCharactersMax)
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/)
    .optional()
    .describe(
      "The same key and body within 24 hours get the first answer again and are charged once; another body, or the " +
        "first call still running, gets 409.",
    ),
});

const maxCreditsHeaders = z.object({
  "x-tollgate-max-credits": z
    .string()
    .regex(/^\d+(?:\.\d{1,9})?$/)
    .optional()
    .describe("The most credits that the call may cost; 402 `max_credits_exceeded` if that is too little."),
});

const fallbackHeaders = z.object({
  "x-tollgate-fallback": z
    .string()
    .regex(/^\s*[^\s,]+(?:\s*,\s*[^\s,]+){0,4}\s*$/)
    .optional()
    .describe("Replaces the targets after the first: `none`, or up to five model ids with commas between them."),
});

/** An operation, and the values of its parameters as runtime expressions. */
interface Link {
  operationId: string;
  parameters: Readonly<Record<string, string>>;
}

export interface ProxiedContract extends Described {
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** The JSON body, if the route accepts one. */
  body?: z.ZodType | undefined;
  /** The form with files, if the route accepts one. */
  form?: z.ZodType;
  /** The answer, if it is not the upstream's own. */
  answer?: z.ZodType;
  /** Whether `stream: true` turns the answer into server-sent events. */
  streams: boolean;
  /** Media types of whole answers other than JSON. */
  answers?: readonly string[];
  /** Whether a call may have a retry key; true by default. */
  retryKey?: boolean;
  /** Whether a call may have a limit of its cost; by default if it may have a retry key. */
  maxCredits?: boolean;
  /** Whether its calls may have several targets, and its answers name the one that has answered. */
  isPaid?: boolean;
  /** The meaning of 403, if the route can return it. */
  forbidden?: string;
  /** The operations that continue with an answer, by the name of the link. */
  links?: Readonly<Record<string, Link>>;
}

/**
 * A `POST` answered by the upstream. Declares the statuses that the contract lists for proxied routes, and 409 if it has
 * retry keys, with the error body of its surface.
 */
export function proxiedContract(contract: ProxiedContract, surface: Surface): RouteContract {
  const { path, operationId, tag, summary, body, form, streams, answers = [], links = {} } = contract;
  const { retryKey = true, maxCredits = retryKey, params, query, forbidden, isPaid = false } = contract;
  const success = isPaid ? paidHeaders : headers;
  const failure = isPaid ? paidErrorHeaders : headers;
  const upstreamBody = contract.answer ?? z.looseObject({}).describe("The upstream's body, unchanged.");
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
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      headers: z.object({
        ...(retryKey ? retryHeaders.shape : {}),
        ...(maxCredits ? maxCreditsHeaders.shape : {}),
        ...(isPaid ? fallbackHeaders.shape : {}),
      }),
      body: { required: true, content: taken },
    },
    responses: {
      200: { description: "Success.", headers: success, content, links },
      201: {
        description: "Created.",
        headers: success,
        content: { "application/json": { schema: upstreamBody } },
        links,
      },
      ...errorResponses([400, 401, 402, 404, 413, 422, 502], surface, failure),
      ...(forbidden === undefined ? {} : { 403: errorResponse(forbidden, surface) }),
      ...(retryKey ? errorResponses([409], surface, failure) : {}),
    },
  });
}

const text = z.string();

/** For the published schema of a form: the names that a part may have. Readers of forms differ about all others. */
export const partNames = {
  propertyNames: { pattern: String.raw`^(?!.*=\?)(?!\s)[^\u0000-\u001f\u007f\\]*[^\s\u0000-\u001f\u007f\\]$` },
};

/** A file in a form, or as an answer. */
export const file = z.string().meta({ format: "binary" });
