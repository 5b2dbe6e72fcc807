import type { Problem } from "../shared/check.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

function refusal(status: number, code: string, detail: string, meta: object = {}): ErrorAnswer {
  const error = { id: "00000000-0000-4000-8000-000000000000", status, code, detail, meta };
  return { status, body: { type: "ErrorResponse", error, time: 1_780_272_000 } };
}

function forStatus(status: number): ErrorAnswer {
  if (status === 429) return refusal(429, "RATE_LIMITED", "Request rate limit exceeded for plan");
  if (status === 401 || status === 403) return refusal(status, "SUBSCRIPTION_TOKEN_INVALID", "The token is not valid");
  if (status === 402) return refusal(402, "QUOTA_LIMITED", "Request quota limit exceeded for plan");
  return refusal(status, status < 500 ? "VALIDATION" : "INTERNAL", "Unable to handle the request");
}

function forProblem(problem: Problem): ErrorAnswer {
  const field = problem.kind === "not-json" ? "body" : problem.field;
  const msg = "message" in problem ? problem.message : `the value is ${problem.kind}`;
  const meta = { errors: [{ type: problem.kind, loc: ["query", field], msg }] };
  return refusal(422, "VALIDATION", "Unable to validate request parameter(s)", meta);
}

/** Brave's errors: `type` and `error`, with a code and the place of each mistake. */
export const braveErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () => refusal(422, "VALIDATION", "Unable to validate request parameter(s)", missingToken),
  keyInvalid: () => refusal(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid."),
  modelNotFound: () => forStatus(404),
  routeNotFound: () => refusal(404, "NOT_FOUND", "The resource does not exist"),
  midStream: () => [],
};

const missingToken = {
  errors: [{ type: "missing", loc: ["header", "x-subscription-token"], msg: "Field required" }],
};
