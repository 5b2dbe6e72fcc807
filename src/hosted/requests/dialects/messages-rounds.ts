import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
import type { RoundDialect, RoundTurn } from "./round-dialect.ts";

/** Rounds of Messages. */
export const messagesRounds: RoundDialect = {
  nameOf: ({ name }) => stringOf(name) || undefined,
  functionOf: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  choiceOf: (name) => ({ type: "tool", name }),
  noChoice: { type: "none" },
  isForced: (choice) => ["any", "tool"].includes(stringOf(objectOf(choice)?.["type"])),
  chosenTool: (choice) => stringOf(objectOf(choice)?.["name"]) || undefined,
  limitIn: ({ max_tokens: tokens }) => (typeof tokens === "number" ? { member: "max_tokens", tokens } : undefined),
  withTurns: (body, turns) => ({ ...body, messages: [...listOf(body["messages"]), ...turns.flatMap(messagesOf)] }),
  givenTexts: (body) => [
    body["system"],
    ...objectsOf(body["messages"]).flatMap(({ role, content }) =>
      role === "assistant" ? objectsOf(content).filter(({ type }) => isFound(stringOf(type))) : [content],
    ),
  ],
};

/** Whether a block has texts that a tool has found. Output of code does not count: a model can write code that prints any address. */
function isFound(type: string): boolean {
  return type.endsWith("_tool_result") && !type.includes("code_execution");
}

function messagesOf({ answer, results }: RoundTurn): JsonObject[] {
  const told = results.map(({ callId, text, isError }) => ({
    type: "tool_result",
    tool_use_id: callId,
    content: text,
    ...(isError && { is_error: true }),
  }));
  const said = answer && { role: "assistant", content: objectsOf(answer["content"]).map(withoutCitations) };
  return [...(said === undefined ? [] : [said]), { role: "user", content: told }];
}

function withoutCitations(block: JsonObject): JsonObject {
  const { citations: _, ...rest } = block;
  return rest;
}
