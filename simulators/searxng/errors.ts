import type { Problem } from "../shared/check.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

function forStatus(status: number): ErrorAnswer {
  if (status === 429) return { status, body: { error: "Too Many Requests" } };
  if (status === 403) return { status, body: { error: "Forbidden" } };
  return { status, body: { error: status >= 500 ? "Internal Server Error" : "search error" } };
}

function forProblem(problem: Problem): ErrorAnswer {
  const field = problem.kind === "not-json" ? "format" : problem.field;
  const value = "value" in problem ? String(problem.value) : "";
  return { status: 400, body: { error: `Invalid value "${value}" for parameter ${field}` } };
}

/** SearXNG's errors: one text. */
export const searxngErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () => forStatus(403),
  keyInvalid: () => forStatus(403),
  modelNotFound: () => forStatus(404),
  routeNotFound: () => ({ status: 404, body: { error: "Not Found" } }),
  midStream: () => [],
};
