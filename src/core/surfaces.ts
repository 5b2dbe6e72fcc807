import type { ErrorCode, GatewayError } from "./errors.ts";

/** The family of API that a route belongs to. It determines the shape of the gateway's errors on that route. */
export type Surface = "openai" | "anthropic" | "gemini" | "firecrawl" | "firecrawl_v1" | "mcp";

const anthropicTypes: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  409: "conflict_error",
  413: "request_too_large",
  422: "invalid_request_error",
  426: "invalid_request_error",
  429: "rate_limit_error",
  503: "overloaded_error",
};

/** The words of Google's errors (`google.rpc.Code`); the number beside them is the status itself. */
const googleStatuses: Record<number, string> = {
  401: "UNAUTHENTICATED",
  402: "PERMISSION_DENIED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  502: "INTERNAL",
  503: "UNAVAILABLE",
};

const typed = (type: string, members: object) => ({ "@type": `type.googleapis.com/google.rpc.${type}`, ...members });

/** What Google's clients read of an error besides its status: the reason, the field, and when to try again. */
function googleDetails({ code, param, message, retryAfterSeconds: seconds }: GatewayError): object[] {
  return [
    typed("ErrorInfo", { reason: code, domain: "tollgate" }),
    ...(param === undefined
      ? []
      : [typed("BadRequest", { fieldViolations: [{ field: param, description: message }] })]),
    ...(seconds === undefined ? [] : [typed("RetryInfo", { retryDelay: `${seconds}s` })]),
  ];
}

/** Errors that Anthropic's SDKs recognize by code and resolve by sending another request. */
const knownToAnthropicSdks: ReadonlySet<ErrorCode> = new Set(["thread_unsupported_request"]);

/** Codes that Firecrawl's clients know; every other error has the code of the table. Source: `docs/wire/firecrawl.md`. */
const firecrawlCodes: Readonly<Partial<Record<ErrorCode, string>>> = {
  validation_failed: "BAD_REQUEST",
  target_unresolved: "SCRAPE_DNS_RESOLUTION_ERROR",
  target_untrusted: "SCRAPE_SSL_ERROR",
  target_timeout: "SCRAPE_TIMEOUT",
  scrape_timeout: "SCRAPE_TIMEOUT",
  map_timeout: "MAP_TIMEOUT",
  target_unreachable: "SCRAPE_SITE_ERROR",
  target_unsupported: "SCRAPE_UNSUPPORTED_FILE_ERROR",
  action_failed: "SCRAPE_ACTION_ERROR",
  selectors_too_slow: "SELECTORS_TOO_SLOW",
};

/** The code of an error in Firecrawl's API. */
export function firecrawlCode(code: ErrorCode): string {
  return firecrawlCodes[code] ?? code;
}

const bodies: Record<Surface, (error: GatewayError, requestId: string) => object> = {
  openai: (error) => ({
    error: { message: error.message, type: error.type, code: error.code, param: error.param ?? null },
  }),
  anthropic: (error, requestId) => ({
    type: "error",
    error: {
      type: anthropicTypes[error.status] ?? "api_error",
      message: error.message,
      ...(knownToAnthropicSdks.has(error.code) ? { details: { error_code: error.code } } : {}),
    },
    request_id: requestId,
  }),
  gemini: (error) => ({
    error: {
      code: error.status,
      message: error.message,
      status: googleStatuses[error.status] ?? "INVALID_ARGUMENT",
      details: googleDetails(error),
    },
  }),
  firecrawl: (error) => ({ success: false, error: error.message, code: firecrawlCode(error.code) }),
  firecrawl_v1: (error) => ({
    success: false,
    error: error.message,
    code: firecrawlCode(error.code),
    ...(error.param !== undefined && { details: [{ path: error.param.split("."), message: error.message }] }),
  }),
  // The code of JSON-RPC is a number; those of the protocol are negative.
  mcp: (error) => ({
    jsonrpc: "2.0",
    id: null,
    error: { code: error.status, message: error.message, data: { code: error.code } },
  }),
};

/** Whether a request is one of Anthropic's SDKs, which call some paths of OpenAI's too: they always name a version. */
export function namesVersion(headers: Headers): boolean {
  return headers.has("anthropic-version");
}

/** The API of a request to such a path. */
export function sharedSurface(headers: Headers): Surface {
  return namesVersion(headers) ? "anthropic" : "openai";
}

/** The API of a request to a path that Google has too: its clients name themselves, or have their key in the address. */
export function listingSurface(headers: Headers, url: string): Surface {
  if (headers.has("x-goog-api-key") || headers.has("x-goog-api-client") || /[?&]key=/.test(url)) return "gemini";
  return sharedSurface(headers);
}

/** The header names in which a surface's SDKs look for the request id. */
const idNames: Readonly<Record<Surface, readonly string[]>> = {
  openai: ["x-request-id"],
  anthropic: ["x-request-id", "request-id"],
  gemini: ["x-request-id"],
  firecrawl: ["x-request-id"],
  firecrawl_v1: ["x-request-id"],
  mcp: ["x-request-id"],
};

/** The headers with the request id, for every answer on a surface. */
export function idHeaders(surface: Surface, requestId: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of idNames[surface]) headers[name] = requestId;
  return headers;
}

/** The JSON body of a gateway error on a surface. */
export function errorBody(surface: Surface, error: GatewayError, requestId: string): object {
  return bodies[surface](error, requestId);
}

/**
 * The HTTP status of a gateway error on a surface. Clients of Firecrawl's v1 API show the message of few statuses only, and take 502 for
 * an error of the network: they send the request again.
 */
export function errorStatus(surface: Surface, { status, code }: GatewayError): number {
  return surface === "firecrawl_v1" && code === "target_timeout" ? 408 : statusOn(surface, status);
}

/** The status on a surface of an upstream's refusal, which is relayed. */
export function statusOn(surface: Surface, status: number): number {
  return surface === "firecrawl_v1" ? (v1Statuses[status] ?? status) : status;
}

const v1Statuses: Readonly<Record<number, number>> = { 422: 400, 502: 500 };

/** The first segments of the paths of Firecrawl's v1 API, behind `/v1/`: no provider can have such a prefix. */
export const firecrawlV1Names = ["crawl", "scrape", "map", "search", "batch", "team", "extract"] as const;
