import { jsonFrame } from "../shared/sse.ts";
import type { Problem } from "../shared/check.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

/** One sentence, without a code. */
function flat(status: number, message: string): ErrorAnswer {
  return { status, body: { message } };
}

/** The status of a token that is not valid, beside 401. */
const INVALID_TOKEN = 498;

function forStatus(status: number): ErrorAnswer {
  if (status === 401 || status === INVALID_TOKEN) return flat(status, "invalid api token");
  if (status === 429) return flat(status, "You are using a Trial key, which is limited to 10 API calls / minute.");
  return flat(status, status >= 500 ? "internal server error" : "The request was refused.");
}

function forProblem(problem: Problem): ErrorAnswer {
  switch (problem.kind) {
    case "not-json":
      return flat(400, "invalid request: json body is not valid");
    case "missing":
      return flat(400, `invalid request: ${problem.field} is required`);
    case "unknown":
      return flat(422, `unknown field: parameter '${problem.field}' is not a valid field`);
    case "wrong-type":
      return flat(422, `invalid type: parameter '${problem.field}' must be ${problem.expected}`);
    case "bad-value":
    case "unsupported":
      return flat(400, `invalid request: ${problem.message}`);
  }
}

/** Cohere's errors. */
export const cohereErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () => flat(401, "no api key supplied"),
  keyInvalid: () => forStatus(401),
  modelNotFound: (model) => flat(404, `model '${model}' not found, make sure the correct model ID was used`),
  routeNotFound: () => flat(404, "404 page not found"),
  midStream: () => [jsonFrame(forStatus(503).body)],
};
