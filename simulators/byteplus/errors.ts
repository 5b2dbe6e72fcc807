import type { Problem } from "../shared/check.ts";
import { jsonFrame } from "../shared/sse.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

/** The class of an error, and the parameter at fault. */
type ErrorKind = string | { type: string; param: string };

/** An error in ModelArk's shape. */
export function byteplusRefusal(status: number, code: string, message: string, kind: ErrorKind): ErrorAnswer {
  const { type, param = "" } = typeof kind === "string" ? { type: kind } : kind;
  const requestId = "02176722560000000000000000000000000000000000000000000";
  return { status, body: { error: { code, message: `${message} Request id: ${requestId}`, param, type } } };
}

const byStatus: { readonly [status: number]: readonly [code: string, message: string, type: string] } = {
  401: ["AuthenticationError", "The API key in the request is missing or invalid.", "Unauthorized"],
  403: ["AccountOverdueError", "The account has an overdue balance.", "Forbidden"],
  404: [
    "InvalidEndpointOrModel.NotFound",
    "The model or endpoint does not exist or you have no access to it.",
    "NotFound",
  ],
  429: [
    "RateLimitExceeded.EndpointRPMExceeded",
    "The requests per minute limit of the endpoint is exceeded.",
    "TooManyRequests",
  ],
};

function forStatus(status: number): ErrorAnswer {
  const known = byStatus[status];
  if (known !== undefined) return byteplusRefusal(status, ...known);
  if (status < 500) return byteplusRefusal(status, "InvalidParameter", "The request was refused.", "BadRequest");
  return byteplusRefusal(
    status,
    "InternalServiceError",
    "The service encountered an unexpected internal error.",
    "InternalServerError",
  );
}

function badRequest(code: string, message: string, field: string): ErrorAnswer {
  return byteplusRefusal(400, code, message, { type: "BadRequest", param: field });
}

function forProblem(problem: Problem): ErrorAnswer {
  switch (problem.kind) {
    case "not-json":
      return badRequest("InvalidParameter", "The request body is not valid JSON.", "");
    case "missing":
      return badRequest(
        "MissingParameter",
        `The request failed because it is missing \`${problem.field}\` parameter.`,
        problem.field,
      );
    case "wrong-type":
      return badRequest(
        "InvalidParameter",
        `The parameter \`${problem.field}\` must be ${problem.expected}.`,
        problem.field,
      );
    case "bad-value":
      return badRequest(
        "InvalidParameter",
        `The parameter \`${problem.field}\` is not valid: ${problem.message}.`,
        problem.field,
      );
    case "unknown":
      return badRequest(
        "InvalidParameter.UnsupportedParameter",
        `\`${problem.field}\` is not supported.`,
        problem.field,
      );
    case "unsupported":
      return badRequest("InvalidParameter.UnsupportedParameter", problem.message, problem.field);
  }
}

/** ModelArk's errors: `code` in dotted camel case, `type` a class name, both texts. */
export const byteplusErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () => forStatus(401),
  keyInvalid: () => forStatus(401),
  modelNotFound: (model) =>
    byteplusRefusal(
      404,
      "InvalidEndpointOrModel.NotFound",
      `The model or endpoint ${model} does not exist or you have no access to it.`,
      "NotFound",
    ),
  routeNotFound: (method, path) => byteplusRefusal(404, "NotFound", `${method} ${path} does not exist.`, "NotFound"),
  midStream: () => [jsonFrame(forStatus(500).body)],
};
