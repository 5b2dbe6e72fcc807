import { type JsonObject, keysOf, objectOf, parseObject } from "../../../core/index.ts";
import { type Failure, type FailureKind, kindOfStatus } from "../../conversation/index.ts";

const types: Readonly<Record<FailureKind, string>> = {
  "invalid-request": "invalid_request_error",
  authentication: "authentication_error",
  billing: "billing_error",
  permission: "permission_error",
  "not-found": "not_found_error",
  conflict: "conflict_error",
  "too-large": "request_too_large",
  "rate-limit": "rate_limit_error",
  timeout: "timeout_error",
  overloaded: "overloaded_error",
  server: "api_error",
};

const kinds = new Map(keysOf(types).map((kind) => [types[kind], kind]));

/** The error of an answer with this status. */
export function readMessagesFailure(status: number, body: string): Failure {
  const failure = readErrorEvent(parseObject(body) ?? {});
  return { ...failure, kind: kindOfStatus(status), message: failure.message || `The upstream answered ${status}.` };
}

/** The error of a body or of an `error` event, which has no status. */
export function readErrorEvent(event: JsonObject): Failure {
  const error = objectOf(event["error"]) ?? {};
  const type = typeof error["type"] === "string" ? error["type"] : "api_error";
  const message = typeof error["message"] === "string" ? error["message"] : "";
  return { kind: kinds.get(type) ?? "server", message, code: type };
}

/** Anthropic's format of an error, both as a body and as the data of an `error` event. */
export function writeMessagesError({ kind, message }: Failure, requestId: string): JsonObject {
  return { type: "error", error: { type: types[kind], message }, request_id: requestId };
}
