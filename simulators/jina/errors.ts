import { jsonFrame } from "../shared/sse.ts";
import type { Problem } from "../shared/check.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

/** A sentence in `detail`. */
function detailed(status: number, detail: string): ErrorAnswer {
  return { status, body: { detail } };
}

function forStatus(status: number): ErrorAnswer {
  if (status === 401) return detailed(status, "Invalid API key.");
  if (status === 429) return detailed(status, "Rate limit exceeded.");
  return detailed(status, status >= 500 ? "Internal server error." : "The request was refused.");
}

function forProblem(problem: Problem): ErrorAnswer {
  if (problem.kind === "not-json") return detailed(422, "The body is not valid JSON.");
  if (problem.kind === "missing") return detailed(422, `Field '${problem.field}' is required.`);
  if (problem.kind === "unknown") return detailed(422, `Argument '${problem.field}' is not supported by our API.`);
  if (problem.kind === "wrong-type") return detailed(422, `'${problem.field}' must be ${problem.expected}.`);
  return detailed(422, `'${problem.field}': ${problem.message}.`);
}

/** Jina's errors. */
export const jinaErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () => forStatus(401),
  keyInvalid: () => forStatus(401),
  modelNotFound: (model) => detailed(400, `Model ${model} not found`),
  routeNotFound: () => detailed(404, "Not Found"),
  midStream: () => [jsonFrame(forStatus(503).body)],
};
