import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
import { typeOf } from "./chat-rounds.ts";
import type { RoundDialect, RoundTurn } from "./round-dialect.ts";

/** Rounds of Responses. */
export const responsesRounds: RoundDialect = {
  nameOf: ({ type, name }) => (type === "function" || type === "custom" ? stringOf(name) || undefined : undefined),
  functionOf: (definition) => ({ type: "function", ...definition, strict: false }),
  choiceOf: (name) => ({ type: "function", name }),
  noChoice: "none",
  isForced: (choice) => choice === "required" || objectOf(choice) !== undefined,
  chosenTool: (choice) => typeOf(choice, ["function", "custom", "allowed_tools"]),
  limitIn: ({ max_output_tokens: tokens }) =>
    typeof tokens === "number" ? { member: "max_output_tokens", tokens } : undefined,
  withTurns: (body, turns) => ({ ...body, input: [...itemsOf(body["input"]), ...turns.flatMap(itemsOfTurn)] }),
  givenTexts: ({ instructions, input }) => [instructions, ...itemsOf(input).map(givenIn)],
};

function itemsOf(input: unknown): readonly unknown[] {
  return typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
}

/** All other items have what the model has written, or may have made a tool write. */
function givenIn(value: unknown): unknown {
  const item = objectOf(value) ?? {};
  switch (item["type"] ?? "message") {
    case "message":
      return item["role"] === "assistant" ? undefined : item;
    case "function_call_output":
    case "custom_tool_call_output":
      return item["output"];
    case "file_search_call":
      return item["results"];
    case "web_search_call":
      return objectOf(item["action"])?.["sources"];
    default:
      return undefined;
  }
}

function itemsOfTurn({ answer, results }: RoundTurn): JsonObject[] {
  const told = results.map(({ callId, text }) => ({ type: "function_call_output", call_id: callId, output: text }));
  return [...objectsOf(answer?.["output"]), ...told];
}
