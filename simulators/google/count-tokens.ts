import { countPrompt } from "../shared/answer.ts";
import { asObject, isGiven, isObject, type JsonObject } from "../shared/json.ts";
import { first } from "../shared/shape.ts";
import type { Problem } from "../shared/check.ts";
import { type Answer, type Call, errorAnswer, isMissingModel, jsonAnswer, type Route } from "../shared/types.ts";
import { nativeErrors } from "./errors.ts";
import { checkGenerate } from "./generate-rules.ts";
import { inCamelCase } from "./native-body.ts";
import { readNativePrompt } from "./native-prompt.ts";

/** Counts contents, or a whole call. Free of charge. */
function countTokens(call: Call): Answer {
  const model = call.parameters["model"] ?? "";
  if (!isObject(call.body)) return errorAnswer(nativeErrors.forProblem({ kind: "not-json" }));
  const body = inCamelCase(call.body);
  const asked = isGiven(body["generateContentRequest"]) ? asObject(body["generateContentRequest"]) : body;
  const problem = checkForm(body, asked, model) ?? checkGenerate(asked, model);
  if (problem !== null) return errorAnswer(nativeErrors.forProblem(problem));
  if (isMissingModel(model)) return errorAnswer(nativeErrors.modelNotFound(model));
  const totalTokens = countPrompt(readNativePrompt(asked).messages).prompt;
  return jsonAnswer({ totalTokens, promptTokensDetails: [{ modality: "TEXT", tokenCount: totalTokens }] });
}

/** Either contents or a call, which names the model of the path. */
function checkForm(body: JsonObject, asked: JsonObject, model: string): Problem | null {
  const unknown = first(Object.entries(body), ([name, value]) =>
    name === "contents" || name === "generateContentRequest" ? null : { kind: "unknown", field: name, value },
  );
  if (unknown !== null || asked === body) return unknown;
  if (isGiven(body["contents"])) {
    return { kind: "unsupported", field: "contents", message: "exclusive with generate_content_request" };
  }
  if (asked["model"] === `models/${model}`) return null;
  return { kind: "unsupported", field: "generate_content_request.model", message: "must be the model of the path" };
}

export const countRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/google/v1beta/models/:model:countTokens",
    errors: nativeErrors,
    handle: countTokens,
  },
];
