import type { Problem } from "../shared/check.ts";
import { jsonFrame } from "../shared/sse.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

function refusal(status: number, message: string, type: string, code: string = type): ErrorAnswer {
  return { status, body: { error: { message, type, param: null, code } } };
}

const invalidRequest = "invalid_request_error";

const byStatus: { readonly [status: number]: readonly [message: string, type: string, code: string] } = {
  401: ["Authentication Fails, Your api key is invalid", "authentication_error", invalidRequest],
  402: ["Insufficient Balance", "unknown_error", invalidRequest],
  429: ["You are sending requests too quickly. Please pace your requests.", "rate_limit_error", "rate_limit_exceeded"],
  503: ["The server is overloaded due to high traffic.", "service_unavailable_error", "service_unavailable_error"],
};

function forStatus(status: number): ErrorAnswer {
  const [message, type, code] = byStatus[status] ?? fallback(status);
  return refusal(status, message, type, code);
}

function fallback(status: number): readonly [message: string, type: string, code: string] {
  if (status < 500) return ["The request could not be processed.", invalidRequest, invalidRequest];
  return ["The server encountered an issue.", "server_error", "server_error"];
}

function undeserializable(detail: string): ErrorAnswer {
  return refusal(422, `Failed to deserialize the JSON body into the target type: ${detail}`, invalidRequest);
}

function forProblem(problem: Problem): ErrorAnswer {
  switch (problem.kind) {
    case "not-json":
      return refusal(400, "Failed to parse the request body as JSON", invalidRequest);
    case "missing":
      return undeserializable(`missing field \`${problem.field}\``);
    case "unknown":
      return undeserializable(`unknown field \`${problem.field}\``);
    case "wrong-type":
      return undeserializable(`${problem.field}: expected ${problem.expected}`);
    case "bad-value":
      return refusal(422, `Invalid value for ${problem.field}: ${problem.message}`, invalidRequest);
    case "unsupported":
      return refusal(400, problem.message, invalidRequest);
  }
}

/** DeepSeek's errors: OpenAI's four members, 402 for an empty balance, 422 for wrong parameters. */
export const deepseekErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () =>
    refusal(
      401,
      "Authentication Fails (auth header format should be Bearer sk-...)",
      "authentication_error",
      invalidRequest,
    ),
  keyInvalid: () => forStatus(401),
  modelNotFound: (model) => refusal(400, `Model Not Exist: ${model}`, invalidRequest),
  routeNotFound: () => refusal(404, "The requested path does not exist.", invalidRequest),
  midStream: () => [jsonFrame(forStatus(503).body)],
};
