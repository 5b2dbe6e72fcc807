import { keysOf } from "./json.ts";

/**
 * The table of all errors. `status` is the HTTP status, `type` the error type in OpenAI's and Anthropic's bodies, and
 * `fault` the party that caused the error (client, upstream, gateway). Messages are written for the caller and never
 * contain a secret. `losesAnswer`: the upstream may have done, and may bill, a request that it was sent.
 */
export const errorTable = {
  missing_token: { status: 401, type: "invalid_request_error", fault: "client" },
  invalid_token: { status: 401, type: "invalid_request_error", fault: "client" },
  token_revoked: { status: 401, type: "invalid_request_error", fault: "client" },
  token_expired: { status: 401, type: "invalid_request_error", fault: "client" },
  token_paused: { status: 401, type: "invalid_request_error", fault: "client" },
  user_disabled: { status: 401, type: "invalid_request_error", fault: "client" },
  project_disabled: { status: 401, type: "invalid_request_error", fault: "client" },
  organisation_disabled: { status: 401, type: "invalid_request_error", fault: "client" },
  signed_out: { status: 401, type: "invalid_request_error", fault: "client" },
  insufficient_credits: { status: 402, type: "insufficient_credits", fault: "client" },
  max_credits_exceeded: { status: 402, type: "insufficient_credits", fault: "client" },
  cross_site: { status: 403, type: "permission_error", fault: "client" },
  fresh_sign_in_required: { status: 403, type: "permission_error", fault: "client" },
  https_required: { status: 403, type: "permission_error", fault: "client" },
  connection_required: { status: 403, type: "permission_error", fault: "client" },
  role_required: { status: 403, type: "permission_error", fault: "client" },
  file_quota_exceeded: { status: 403, type: "invalid_request_error", fault: "client" },
  route_not_found: { status: 404, type: "invalid_request_error", fault: "client" },
  model_not_routed: { status: 404, type: "invalid_request_error", fault: "client" },
  model_unpriced: { status: 404, type: "invalid_request_error", fault: "gateway" },
  provider_without_key: { status: 404, type: "invalid_request_error", fault: "gateway" },
  account_not_found: { status: 404, type: "invalid_request_error", fault: "client" },
  generation_not_found: { status: 404, type: "invalid_request_error", fault: "client" },
  object_not_found: { status: 404, type: "invalid_request_error", fault: "client" },
  crawl_not_found: { status: 404, type: "invalid_request_error", fault: "client" },
  tool_not_found: { status: 404, type: "invalid_request_error", fault: "client" },
  video_not_found: { status: 404, type: "invalid_request_error", fault: "client" },
  response_not_found: { status: 404, type: "invalid_request_error", fault: "client" },
  unsupported_operation: { status: 404, type: "invalid_request_error", fault: "client" },
  thread_unsupported_request: { status: 400, type: "invalid_request_error", fault: "client" },
  moderation_blocked: { status: 400, type: "image_generation_user_error", fault: "client" },
  image_missing: { status: 400, type: "image_generation_user_error", fault: "upstream" },
  scrape_timeout: { status: 408, type: "upstream_error", fault: "upstream" },
  map_timeout: { status: 408, type: "upstream_error", fault: "upstream" },
  host_repeated: { status: 400, type: "invalid_request_error", fault: "client" },
  request_interrupted: { status: 400, type: "invalid_request_error", fault: "client" },
  session_expired: { status: 408, type: "invalid_request_error", fault: "client" },
  session_ended: { status: 408, type: "invalid_request_error", fault: "client" },
  session_idle: { status: 408, type: "invalid_request_error", fault: "client" },
  slow_consumer: { status: 408, type: "invalid_request_error", fault: "client" },
  request_timeout: { status: 408, type: "invalid_request_error", fault: "client" },
  account_conflict: { status: 409, type: "invalid_request_error", fault: "client" },
  too_many_budgets: { status: 422, type: "invalid_request_error", fault: "client" },
  name_taken: { status: 409, type: "invalid_request_error", fault: "client" },
  last_owner: { status: 409, type: "invalid_request_error", fault: "client" },
  batch_ended: { status: 409, type: "invalid_request_error", fault: "client" },
  batch_not_ended: { status: 409, type: "invalid_request_error", fault: "client" },
  batch_expired: { status: 408, type: "invalid_request_error", fault: "client" },
  batch_cancelled: { status: 408, type: "invalid_request_error", fault: "client" },
  idempotency_key_in_use: { status: 409, type: "invalid_request_error", fault: "client" },
  idempotency_key_reused: { status: 409, type: "invalid_request_error", fault: "client" },
  idempotency_answer_too_large: { status: 409, type: "invalid_request_error", fault: "client" },
  precondition_failed: { status: 412, type: "invalid_request_error", fault: "client" },
  body_too_large: { status: 413, type: "invalid_request_error", fault: "client" },
  address_refused: { status: 422, type: "invalid_request_error", fault: "client" },
  browser_unavailable: { status: 422, type: "invalid_request_error", fault: "gateway" },
  image_unreachable: { status: 422, type: "invalid_request_error", fault: "client" },
  selectors_too_slow: { status: 422, type: "invalid_request_error", fault: "client" },
  webhook_key_unset: { status: 422, type: "invalid_request_error", fault: "gateway" },
  web_model_unset: { status: 422, type: "invalid_request_error", fault: "gateway" },
  validation_failed: { status: 422, type: "invalid_request_error", fault: "client" },
  upgrade_required: { status: 426, type: "invalid_request_error", fault: "client" },
  rate_limit_exceeded: { status: 429, type: "rate_limit_error", fault: "client" },
  ledger_busy: { status: 429, type: "rate_limit_error", fault: "gateway" },
  internal_error: { status: 500, type: "server_error", fault: "gateway" },
  target_unresolved: { status: 502, type: "upstream_error", fault: "upstream" },
  target_unreachable: { status: 502, type: "upstream_error", fault: "upstream" },
  target_untrusted: { status: 502, type: "upstream_error", fault: "upstream" },
  target_timeout: { status: 502, type: "upstream_error", fault: "upstream" },
  target_redirects: { status: 502, type: "upstream_error", fault: "upstream" },
  target_too_large: { status: 502, type: "upstream_error", fault: "upstream" },
  target_unreadable: { status: 502, type: "upstream_error", fault: "upstream" },
  target_unsupported: { status: 502, type: "upstream_error", fault: "upstream" },
  action_failed: { status: 502, type: "upstream_error", fault: "upstream" },
  provider_key_refused: { status: 502, type: "upstream_error", fault: "upstream" },
  upstream_unreachable: { status: 502, type: "upstream_error", fault: "upstream", losesAnswer: true },
  upstream_timeout: { status: 502, type: "upstream_error", fault: "upstream", losesAnswer: true },
  upstream_invalid_answer: { status: 502, type: "upstream_error", fault: "upstream", losesAnswer: true },
  upstream_interrupted: { status: 502, type: "upstream_error", fault: "upstream", losesAnswer: true },
  provider_disabled: { status: 503, type: "server_error", fault: "gateway" },
  web_busy: { status: 503, type: "server_error", fault: "gateway" },
  shutting_down: { status: 503, type: "server_error", fault: "gateway" },
  memory_exhausted: { status: 503, type: "server_error", fault: "gateway" },
  issuer_unavailable: { status: 503, type: "server_error", fault: "gateway" },
  storage_unavailable: { status: 503, type: "server_error", fault: "gateway" },
} as const;

export type ErrorCode = keyof typeof errorTable;

export interface GatewayErrorOptions {
  /** The path of the request's field that is at fault: `messages.0.role`. */
  param?: string | undefined;
  /** Seconds until a retry makes sense; sent as `retry-after`. */
  retryAfterSeconds?: number;
  /** Additional headers of the answer. */
  headers?: Readonly<Record<string, string>>;
  /** Logged, but never sent to the client. */
  cause?: unknown;
}

/** A code that another process has written; `internal_error` for one that this version does not know. */
export function errorCodeIn(text: unknown): ErrorCode {
  return keysOf(errorTable).find((code) => code === text) ?? "internal_error";
}

/** A refusal or failure with a row in the error table. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** A call that was sent adds those of its target. */
  headers: Readonly<Record<string, string>> | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "GatewayError";
    this.code = code;
    this.param = options.param;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers;
  }

  get status(): number {
    return errorTable[this.code].status;
  }

  /** The party that caused the error. */
  get fault(): "client" | "upstream" | "gateway" {
    return errorTable[this.code].fault;
  }

  /** Whether an upstream that has the request may bill an answer that has not come. */
  get losesAnswer(): boolean {
    return "losesAnswer" in errorTable[this.code];
  }

  get type(): string {
    return errorTable[this.code].type;
  }
}

/** The refusal of work by a server that stops. */
export function shuttingDown(): GatewayError {
  return new GatewayError("shutting_down", "The server is going down.", { retryAfterSeconds: 1 });
}

/** Whether the client or an upstream caused the failure. Any other is the gateway's own, whether the table has a row for it or not. */
export function isOutsideFault(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && thrown.fault !== "gateway";
}

/** Whether it is a failure of the gateway's own that the table has a row for: a storage that is away, a server that stops. */
export function isKnownGatewayFault(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && thrown.fault === "gateway";
}

/**
 * Converts anything thrown to a `GatewayError`: an unknown error becomes `internal_error`, with itself as the cause.
 */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError("internal_error", "The gateway failed to handle this request.", { cause: thrown });
}
