import type { Problem } from "../shared/check.ts";
import { jsonFrame } from "../shared/sse.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

/** The flat shape: no `error` member around it. */
function flat(status: number, message: string, type: string, code: string): ErrorAnswer {
  return { status, body: { object: "error", message, type, param: null, code } };
}

function invalidInput(type: string, field: string, msg: string, input: unknown): ErrorAnswer {
  const loc = [
    "body",
    ...field
      .split(/[.[\]]+/)
      .filter(Boolean)
      .map(numberWhereIndex),
  ];
  return { status: 422, body: { detail: [{ type, loc, msg, input }] } };
}

function numberWhereIndex(segment: string): string | number {
  return /^\d+$/.test(segment) ? Number(segment) : segment;
}

function forStatus(status: number): ErrorAnswer {
  if (status === 401) return { status, body: { detail: "Unauthorized" } };
  if (status === 422) return invalidInput("value_error", "messages", "Value error", null);
  if (status === 429) return flat(status, "Rate limit exceeded", "rate_limited", "1300");
  if (status === 503) return flat(status, "Service unavailable.", "unreachable_backend", "1100");
  if (status >= 500) return flat(status, "Service internal error.", "internal_server_error", "1000");
  return flat(status, "The request was refused.", "invalid_request_error", "1300");
}

function forProblem(problem: Problem): ErrorAnswer {
  switch (problem.kind) {
    case "not-json":
      return invalidInput("json_invalid", "0", "JSON decode error", {});
    case "missing":
      return invalidInput("missing", problem.field, "Field required", null);
    case "unknown":
      return invalidInput("extra_forbidden", problem.field, "Extra inputs are not permitted", problem.value);
    case "wrong-type":
      return invalidInput("type_error", problem.field, `Input should be ${problem.expected}`, problem.value);
    case "bad-value":
      return invalidInput("value_error", problem.field, `Value error, ${problem.message}`, problem.value);
    case "unsupported":
      return flat(400, problem.message, "invalid_request_error", "3230");
  }
}

/** Mistral's errors: flat ones, and lists of details for failed validation. */
export const mistralErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () => forStatus(401),
  keyInvalid: () => forStatus(401),
  modelNotFound: (model) => flat(400, `Invalid model: ${model}`, "invalid_model", "1500"),
  routeNotFound: () => ({ status: 404, body: { detail: "Not Found" } }),
  midStream: () => [jsonFrame(forStatus(503).body)],
};
