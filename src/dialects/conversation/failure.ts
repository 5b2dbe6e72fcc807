import type { GatewayError } from "../../core/index.ts";

/** What went wrong, in no dialect; each has its own word for it. */
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

/** A failure of the upstream's or our own, as an answer or in the middle of a stream. */
export interface Failure {
  kind: FailureKind;
  message: string;
  /** The upstream's or our own word for it. */
  code?: string | undefined;
  /** The field that is at fault. */
  param?: string | undefined;
  /** OpenAI's `type`, where the upstream or our table names one. */
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

/** The kind that a status stands for by itself. */
export function kindOfStatus(status: number): FailureKind {
  return kinds[status] ?? (status >= 500 ? "server" : "invalid-request");
}

/** One of our own errors. */
export function failureOf(error: GatewayError): Failure {
  return {
    kind: kindOfStatus(error.status),
    message: error.message,
    code: error.code,
    param: error.param,
    type: error.type,
  };
}
