import type { Problem } from "../shared/check.ts";
import { jsonFrame } from "../shared/sse.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

interface Failure {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
}

type ErrorBody = (failure: Failure) => unknown;

const invalidRequest = "invalid_request_error";

const byStatus: { readonly [status: number]: Omit<Failure, "status"> } = {
  401: { message: "Invalid API Key", type: invalidRequest, code: "invalid_api_key" },
  404: { message: "The requested resource does not exist.", type: invalidRequest, code: null },
  429: { message: "Rate limit reached. Please try again later.", type: "requests", code: "rate_limit_exceeded" },
  503: { message: "Service unavailable.", type: "service_unavailable", code: null },
};

function failureOf(status: number): Failure {
  const known = byStatus[status];
  if (known !== undefined) return { status, ...known };
  if (status < 500) return invalid("The request was refused.", null, status);
  return { status, message: "Internal server error", type: "internal_server_error", code: null };
}

function invalid(message: string, code: string | null = null, status = 400): Failure {
  return { status, message, type: invalidRequest, code };
}

function problemFailure(problem: Problem): Failure {
  switch (problem.kind) {
    case "not-json":
      return invalid("The request body is not valid JSON.");
    case "missing":
      return invalid(`'${problem.field}' is required`);
    case "unknown":
      return invalid(`'${problem.field}' is not known`);
    case "wrong-type":
      return invalid(`'${problem.field}' must be ${problem.expected}`);
    case "bad-value":
    case "unsupported":
      return invalid(`'${problem.field}': ${problem.message}`);
  }
}

function makeErrors(body: ErrorBody): ProviderErrors {
  const answer = (failure: Failure): ErrorAnswer => ({ status: failure.status, body: body(failure) });
  return {
    forStatus: (status) => answer(failureOf(status)),
    forProblem: (problem) => answer(problemFailure(problem)),
    keyMissing: () => answer(failureOf(401)),
    keyInvalid: () => answer(failureOf(401)),
    modelNotFound: (model) => answer(invalid(`The model \`${model}\` does not exist`, "model_not_found", 404)),
    routeNotFound: (method, path) => answer(invalid(`Unknown request URL: ${method} ${path}`, "unknown_url", 404)),
    midStream: () => [jsonFrame(body(failureOf(500)))],
  };
}

/** The common shape; `code` is omitted if absent. */
export const plainErrors = makeErrors(({ message, type, code }) => ({
  error: { message, type, ...(code === null ? {} : { code }) },
}));

/** Perplexity's shape: `code` is the status as a number. */
export const numberedErrors = makeErrors(({ status, message, type }) => ({ error: { message, type, code: status } }));
