import { type JsonObject, listOf, objectOf, parseObject, stringOf } from "../../../core/index.ts";
import { type Failure, type FailureKind, kindOfStatus } from "../../conversation/index.ts";

/** The statuses of Google's errors (`google.rpc.Code`), with their numbers in HTTP. */
const statuses: Readonly<Record<FailureKind, readonly [code: number, status: string]>> = {
  "invalid-request": [400, "INVALID_ARGUMENT"],
  authentication: [401, "UNAUTHENTICATED"],
  billing: [402, "PERMISSION_DENIED"],
  permission: [403, "PERMISSION_DENIED"],
  "not-found": [404, "NOT_FOUND"],
  conflict: [409, "ABORTED"],
  "too-large": [413, "INVALID_ARGUMENT"],
  "rate-limit": [429, "RESOURCE_EXHAUSTED"],
  timeout: [504, "DEADLINE_EXCEEDED"],
  overloaded: [503, "UNAVAILABLE"],
  server: [500, "INTERNAL"],
};

const kinds: Readonly<Record<string, FailureKind>> = {
  INVALID_ARGUMENT: "invalid-request",
  FAILED_PRECONDITION: "invalid-request",
  OUT_OF_RANGE: "invalid-request",
  UNAUTHENTICATED: "authentication",
  PERMISSION_DENIED: "permission",
  NOT_FOUND: "not-found",
  ABORTED: "conflict",
  ALREADY_EXISTS: "conflict",
  RESOURCE_EXHAUSTED: "rate-limit",
  DEADLINE_EXCEEDED: "timeout",
  UNAVAILABLE: "overloaded",
};

/** The error of an answer with this status. */
export function readGeminiFailure(status: number, body: string): Failure {
  const failure = readGeminiError(firstOf(body) ?? {});
  return { ...failure, kind: kindOfStatus(status), message: failure.message || `The upstream answered ${status}.` };
}

/** A stream without `alt=sse` is a list, its errors included. */
function firstOf(body: string): JsonObject | undefined {
  if (!body.trimStart().startsWith("[")) return parseObject(body);
  try {
    return objectOf(listOf(JSON.parse(body))[0]);
  } catch {
    return undefined;
  }
}

/** The error of a body or of an event: some have a status and no number. */
export function readGeminiError(body: JsonObject): Failure {
  const error = objectOf(body["error"]) ?? {};
  const status = stringOf(error["status"]);
  const code = Number(error["code"]);
  const known = Object.hasOwn(kinds, status) ? kinds[status] : undefined;
  const kind = known ?? (code >= 400 && code < 600 ? kindOfStatus(code) : "server");
  return { kind, message: stringOf(error["message"]), code: status === "" ? undefined : status };
}

/** Google's format of an error, both as a body and as an event of a stream: its code is a number, which SDKs insist on. */
export function writeGeminiError({ kind, message, code, param }: Failure): JsonObject {
  const [number, status] = statuses[kind];
  const details = [
    ...(code === undefined
      ? []
      : [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: code, domain: "tollgate" }]),
    ...(param === undefined
      ? []
      : [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [{ field: param, description: message }],
          },
        ]),
  ];
  return { error: { code: number, message, status, details } };
}
