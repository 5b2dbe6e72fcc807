import type { ErrorCode, GatewayError } from "./errors.ts";

/** Whose API a route belongs to: it decides the shape of our own errors there. */
export type Surface = "openai" | "anthropic" | "firecrawl";

const anthropicTypes: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  404: "not_found_error",
  408: "timeout_error",
  409: "conflict_error",
  413: "request_too_large",
  422: "invalid_request_error",
  429: "rate_limit_error",
  503: "overloaded_error",
};

/** Errors that Anthropic's SDKs know by their code, and mend by asking in another way. */
const knownToAnthropicSdks: ReadonlySet<ErrorCode> = new Set(["thread_unsupported_request"]);

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
  firecrawl: (error) => ({ success: false, error: error.message }),
};

/** The headers of every answer on a surface: the request's id, under the names that its SDKs look for. */
export function idHeaders(surface: Surface, requestId: string): Record<string, string> {
  if (surface === "anthropic") return { "x-request-id": requestId, "request-id": requestId };
  return { "x-request-id": requestId };
}

/** The JSON body of one of our errors on a surface. */
export function errorBody(surface: Surface, error: GatewayError, requestId: string): object {
  return bodies[surface](error, requestId);
}
