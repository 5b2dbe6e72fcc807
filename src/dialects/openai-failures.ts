import { type JsonObject, listOf, objectOf } from "../core/index.ts";
import { type Failure, type FailureKind, kindOfStatus } from "./conversation/index.ts";

/** OpenAI's errors, shared by chat and Responses. */

/** Codes of OpenAI and similar APIs for errors within a stream, which have no status. */
const kindsOfWords: readonly (readonly [RegExp, FailureKind])[] = [
  [/insufficient_quota|billing|credit|balance|overdue/i, "billing"],
  [/rate_?limit|too_?many|^requests$|^tokens$|resource_exhausted/i, "rate-limit"],
  [/overload|unavailable|capacity|insufficient_system_resource/i, "overloaded"],
  [/authentication|invalid_api_key|unauthorized/i, "authentication"],
  [/permission|forbidden/i, "permission"],
  [/not_?found/i, "not-found"],
  [/timeout|deadline/i, "timeout"],
  [/invalid|bad_?request|context_length/i, "invalid-request"],
];

/** The error of an answer with this status, in any format of upstreams with OpenAI's dialects. */
export function readOpenaiFailure(status: number, body: string): Failure {
  const failure = readErrorValue(parse(body));
  return { ...failure, kind: kindOfStatus(status), message: failure.message || `The upstream answered ${status}.` };
}

/** The error in a chunk or a body; its kind is read from the upstream's codes. */
export function readErrorValue(value: unknown): Failure {
  const root = objectOf(firstOf(value)) ?? {};
  const error = objectOf(root["error"]) ?? {};
  const message = firstText(error["message"], root["error"], root["message"], textOfDetail(root["detail"]));
  const code = wordOf(error["code"] ?? root["code"]);
  const type = wordOf(error["type"] ?? error["status"] ?? root["type"]);
  const param = typeof error["param"] === "string" ? error["param"] : undefined;
  return { kind: kindOfWords(code, type), message, code, type, param };
}

/** The error of a whole answer with a status of success. */
export function readAnsweredError(body: string): Failure {
  return readErrorValue(parse(body));
}

function kindOfWords(code: string | undefined, type: string | undefined): FailureKind {
  const status = Number(code);
  if (status >= 400 && status < 600) return kindOfStatus(status);
  const words = `${code ?? ""} ${type ?? ""}`;
  return kindsOfWords.find(([pattern]) => pattern.test(words))?.[1] ?? "server";
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function firstText(...values: readonly unknown[]): string {
  for (const value of values) {
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? listOf(value)[0] : value;
}

/** A message, or a list of validation errors. */
function textOfDetail(detail: unknown): unknown {
  const first = firstOf(detail);
  return objectOf(first)?.["msg"] ?? first;
}

function wordOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

const types: Readonly<Record<FailureKind, string>> = {
  "invalid-request": "invalid_request_error",
  authentication: "invalid_request_error",
  billing: "insufficient_quota",
  permission: "permission_error",
  "not-found": "invalid_request_error",
  conflict: "conflict_error",
  "too-large": "invalid_request_error",
  "rate-limit": "rate_limit_error",
  timeout: "timeout_error",
  overloaded: "server_error",
  server: "server_error",
};

/** OpenAI's format of an error. */
export function writeOpenaiError({ kind, message, code, param, type }: Failure): JsonObject {
  return { error: { message, type: type ?? types[kind], code: code ?? null, param: param ?? null } };
}
