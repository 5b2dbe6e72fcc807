import { bearerKey } from "../shared/http.ts";
import { asObject, type JsonObject } from "../shared/json.ts";
import type { Corpus } from "../shared/search/corpus.ts";
import type { Shape } from "../shared/shape.ts";
import { splitModel } from "../shared/faults.ts";
import { type Answer, type Call, errorAnswer } from "../shared/types.ts";
import { firecrawlErrors } from "./errors.ts";
import type { Team, Teams } from "./team.ts";

/** The state that all routes share. */
export interface Desk {
  readonly corpus: () => Corpus;
  readonly teams: Teams;
}

/** The team of a request's key, without the fault specification behind it. */
export function teamOf({ teams }: Desk, { headers }: Call): Team {
  return teams.of(splitModel(bearerKey(headers) ?? "").model);
}

/** Answers if the body has the right shape; every violation is a 400. */
export function withBody(call: Call, shape: Shape, answer: (body: JsonObject) => Answer): Answer {
  if (call.body === undefined) return errorAnswer(firecrawlErrors.forProblem({ kind: "not-json" }));
  const problem = shape(call.body, "");
  return problem === null ? answer(asObject(call.body)) : errorAnswer(firecrawlErrors.forProblem(problem));
}

/** 402, without doing anything. */
export function noCredits(): Answer {
  return errorAnswer(firecrawlErrors.forStatus(402));
}
