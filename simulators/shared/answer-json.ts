import type { Problem } from "./check.ts";
import { isObject, type JsonObject } from "./json.ts";
import { type Answer, type Call, errorAnswer, isMissingModel, type ProviderErrors } from "./types.ts";

/** What stands between a JSON request and its answer. */
export interface JsonRequest {
  readonly errors: ProviderErrors;
  /** The first thing wrong with the body, null where all is well; a shape will do. */
  readonly check: (body: JsonObject, field: string) => Problem | null;
  /** Called for a body that passed the check and names no model that is missing. */
  readonly answer: (body: JsonObject, model: string) => Answer;
}

/** Answers a JSON request, or refuses it in the provider's words. */
export function answerJson(call: Call, { errors, check, answer }: JsonRequest): Answer {
  const { body } = call;
  if (!isObject(body)) return errorAnswer(errors.forProblem({ kind: "not-json" }));
  const problem = check(body, "");
  if (problem !== null) return errorAnswer(errors.forProblem(problem));
  const model = String(body["model"]);
  return isMissingModel(model) ? errorAnswer(errors.modelNotFound(model)) : answer(body, model);
}
