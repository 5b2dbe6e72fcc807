import { type Call, errorAnswer, jsonAnswer, type Answer, type Route } from "../shared/types.ts";
import { openaiErrors } from "./errors.ts";

const models = [
  { id: "gpt-5.2", created: 1_765_300_000 },
  { id: "gpt-5", created: 1_754_425_777 },
  { id: "gpt-5-mini", created: 1_754_425_928 },
  { id: "gpt-5-nano", created: 1_754_426_384 },
  { id: "gpt-4.1-mini", created: 1_744_318_173 },
  { id: "gpt-4o", created: 1_715_367_049 },
  { id: "gpt-4o-mini", created: 1_721_172_741 },
  { id: "o4-mini", created: 1_744_225_351 },
].map(({ id, created }) => ({ id, object: "model", created, owned_by: "system" }));

function retrieve(call: Call): Answer {
  const id = call.parameters["id"] ?? "";
  const found = models.find((model) => model.id === id);
  return found === undefined ? errorAnswer(openaiErrors.modelNotFound(id)) : jsonAnswer(found);
}

/** Models listing: one unpaged list. */
export const modelRoutes: readonly Route[] = [
  { method: "GET", path: "/openai/v1/models", handle: () => jsonAnswer({ object: "list", data: models }) },
  { method: "GET", path: "/openai/v1/models/:id", handle: retrieve },
];

/** Families that think before they answer and refuse what only the older models take. */
export function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-5)/.test(model);
}
