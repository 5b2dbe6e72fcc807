import type { Problem } from "./check.ts";
import { isObject, type JsonObject } from "./json.ts";
import { type Answer, type Call, errorAnswer, isMissingModel, type ProviderErrors } from "./types.ts";

/** The steps between a JSON request and its answer. */
export interface JsonRequest {
  readonly errors: ProviderErrors;
  /** The first violation in the body, or null; a shape can be used. */
  readonly check: (body: JsonObject, field: string) => Problem | null;
  /** Called for a body that passed the check and names no model that is missing. */
  readonly answer: (body: JsonObject, model: string) => Answer;
}

/** Answers a JSON request, or refuses it in the provider's format. */
export function answerJson(call: Call, { errors, check, answer }: JsonRequest): Answer {
  const { body } = call;
  if (!isObject(body)) return errorAnswer(errors.forProblem({ kind: "not-json" }));
  const problem = check(body, "");
  if (problem !== null) return errorAnswer(errors.forProblem(problem));
  const model = String(body["model"]);
  return isMissingModel(model) ? errorAnswer(errors.modelNotFound(model)) : answer(body, model);
}
