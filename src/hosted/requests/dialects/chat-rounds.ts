import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
import type { RoundDialect, RoundTurn } from "./round-dialect.ts";

/** Rounds of chat completions. */
export const chatRounds: RoundDialect = {
  nameOf: ({ function: own, custom }) => stringOf(objectOf(own ?? custom)?.["name"]) || undefined,
  functionOf: (definition) => ({ type: "function", function: definition }),
  choiceOf: (name) => ({ type: "function", function: { name } }),
  noChoice: "none",
  isForced: (choice) => choice === "required" || objectOf(choice) !== undefined,
  chosenTool: (choice) => typeOf(choice, ["function", "custom", "allowed_tools"]),
  limitIn(body) {
    for (const member of ["max_completion_tokens", "max_tokens"]) {
      const tokens = body[member];
      if (typeof tokens === "number") return { member, tokens };
    }
    return undefined;
  },
  withTurns: (body, turns) => ({ ...body, messages: [...listOf(body["messages"]), ...turns.flatMap(messagesOf)] }),
  givenTexts: (body) =>
    objectsOf(body["messages"]).flatMap(({ role, content }) => (role === "assistant" ? [] : [content])),
};

/** The type of a choice that is none of the dialect's own. */
export function typeOf(choice: unknown, own: readonly string[]): string | undefined {
  const type = objectOf(choice)?.["type"];
  return typeof type === "string" && !own.includes(type) ? type : undefined;
}

function messagesOf({ answer, results }: RoundTurn): JsonObject[] {
  const message = objectOf(objectOf(listOf(answer?.["choices"])[0])?.["message"]) ?? {};
  const { refusal: _refusal, annotations: _annotations, ...said } = message;
  const told = results.map(({ callId, text }) => ({ role: "tool", tool_call_id: callId, content: text }));
  return [said, ...told];
}
