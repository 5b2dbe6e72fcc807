import type { GatewayError } from "../../core/index.ts";

/** The kind of a failure, independent of dialects; each has its own name for it. */
export type FailureKind =
  | "invalid-request"
  | "authentication"
  | "billing"
  | "permission"
  | "not-found"
  | "conflict"
  | "too-large"
  | "rate-limit"
  | "timeout"
  | "overloaded"
  | "server";

/** A failure of the upstream or of the gateway, as an answer or within a stream. */
export interface Failure {
  kind: FailureKind;
  message: string;
  /** The upstream's or the gateway's code. */
  code?: string | undefined;
  /** The invalid field. */
  param?: string | undefined;
  /** OpenAI's `type`, if the upstream or our table contains one. */
  type?: string | undefined;
}

const kinds: Readonly<Record<number, FailureKind>> = {
  401: "authentication",
  402: "billing",
  403: "permission",
  404: "not-found",
  408: "timeout",
  409: "conflict",
  413: "too-large",
  429: "rate-limit",
  498: "overloaded",
  503: "overloaded",
  504: "timeout",
  529: "overloaded",
};

/** The kind implied by a status. */
export function kindOfStatus(status: number): FailureKind {
  return kinds[status] ?? (status >= 500 ? "server" : "invalid-request");
}

/** Converts one of the gateway's own errors. */
export function failureOf(error: GatewayError): Failure {
  return {
    kind: kindOfStatus(error.status),
    message: error.message,
    code: error.code,
    param: error.param,
    type: error.type,
  };
}
