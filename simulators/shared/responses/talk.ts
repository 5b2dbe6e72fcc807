import { answerPrompt } from "../answer.ts";
import type { Problem } from "../check.ts";
import { asObject, isObject, type JsonObject } from "../json.ts";
import { checkStreamOptions } from "../shape.ts";
import { type Answer, type Call, errorAnswer, isMissingModel } from "../types.ts";
import { readContext } from "./context.ts";
import { readResponsesPrompt } from "./read-prompt.ts";
import type { ResponsesTalk, ResponsesWire } from "./wire.ts";

/** Reads and checks a request; an answer if it is refused. */
export function startTalk(call: Call, wire: ResponsesWire): ResponsesTalk | Answer {
  const body = asObject(call.body);
  const problem = checkBody(call, body, wire);
  if (problem !== null) return errorAnswer(wire.errors.forProblem(problem));
  const model = String(body["model"]);
  if (isMissingModel(model)) return errorAnswer(wire.errors.modelNotFound(model));
  const context = readContext(call, body, wire);
  if ("error" in context) return errorAnswer(context.error);
  const prompt = readResponsesPrompt(body, context.items, wire.wantsReasoning(body));
  const answer = answerPrompt(prompt, call.identity, call.faults.hugeMebibytes);
  const [turn] = answer.turns;
  if (turn === undefined) throw new Error("an answer without a turn");
  return { call, body, input: context.items, answer, turn };
}

function checkBody(call: Call, body: JsonObject, wire: ResponsesWire): Problem | null {
  if (!isObject(call.body)) return { kind: "not-json" };
  return wire.shape(body, "") ?? checkStreamOptions(body) ?? wire.refuse?.(body, call.headers) ?? null;
}
