import type { Problem } from "../shared/check.ts";
import type { JsonObject } from "../shared/json.ts";
import { type Frame, jsonFrame } from "../shared/sse.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

/** An error before it is written in the format of the native or the compatible surface. */
interface Failure {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

const invalidRequest = "invalid_request_error";

const byStatus: { readonly [status: number]: readonly [type: string, message: string] } = {
  401: ["authentication_error", "invalid x-api-key"],
  402: ["billing_error", "There is a problem with the billing of your account."],
  403: ["permission_error", "Your API key has no permission to use this resource."],
  404: ["not_found_error", "The requested resource could not be found."],
  409: ["conflict_error", "The request conflicts with the state of the resource."],
  413: ["request_too_large", "Request exceeds the maximum size"],
  429: ["rate_limit_error", "This request would exceed your account's rate limit. Please try again later."],
  504: ["timeout_error", "The request timed out."],
  529: ["overloaded_error", "Overloaded"],
};

function failureOf(status: number): Failure {
  const [type, message] =
    byStatus[status] ?? (status < 500 ? [invalidRequest, "Bad request."] : ["api_error", "Internal server error"]);
  return { status, type, message };
}

function invalid(message: string): Failure {
  return { status: 400, type: invalidRequest, message };
}

/** Paths are written with dots alone: `messages.0.content.1`. */
function dotted(field: string): string {
  return field.replace(/\[(\d+)\]/g, ".$1");
}

function problemFailure(problem: Problem): Failure {
  switch (problem.kind) {
    case "not-json":
      return invalid("The request body is not valid JSON.");
    case "missing":
      return invalid(`${dotted(problem.field)}: Field required`);
    case "unknown":
      return invalid(`${dotted(problem.field)}: Extra inputs are not permitted`);
    case "wrong-type":
      return invalid(`${dotted(problem.field)}: Input should be ${problem.expected}`);
    case "bad-value":
    case "unsupported":
      return invalid(`${dotted(problem.field)}: ${problem.message}`);
  }
}

interface Surface {
  body(failure: Failure): unknown;
  midStream(body: unknown): Frame;
}

function makeErrors(surface: Surface): ProviderErrors {
  const answer = (failure: Failure): ErrorAnswer => ({ status: failure.status, body: surface.body(failure) });
  return {
    forStatus: (status) => answer(failureOf(status)),
    forProblem: (problem) => answer(problemFailure(problem)),
    keyMissing: () => answer({ ...failureOf(401), message: "x-api-key header is required" }),
    keyInvalid: () => answer(failureOf(401)),
    modelNotFound: (model) => answer({ ...failureOf(404), message: `model: ${model}` }),
    routeNotFound: () => answer({ ...failureOf(404), message: "Not found" }),
    midStream: () => [surface.midStream(surface.body(failureOf(529)))],
  };
}

/** Errors of the native API; a stream's error is a separate event. */
export const nativeErrors = makeErrors({
  body: ({ type, message }) => ({ type: "error", error: { type, message }, request_id: null }),
  midStream: (body) => ({ event: "error", data: JSON.stringify(body) }),
});

/** A native error with further details for programs. */
export function detailedError(status: 400 | 404, message: string, details: JsonObject): ErrorAnswer {
  const error = { type: failureOf(status).type, message, details };
  return { status, body: { type: "error", error, request_id: null } };
}

/** Errors of the OpenAI-compatible layer. */
export const compatErrors = makeErrors({
  body: ({ type, message }) => ({ error: { code: type, message, type, param: null } }),
  midStream: jsonFrame,
});
