/** The search for tools that a client runs itself (`tool_search` with `execution: "client"`), as a function for other upstreams. */
import { type JsonObject, listOf, objectOf, objectsOf, parseObject, stringOf } from "../../core/index.ts";
import type { AnswerBlock, ToolCallPart, ToolResultPart, ToolSubstitute } from "../conversation/index.ts";
import type { ToolNames } from "./tool-names.ts";

const TYPE = "tool_search";

/** Whether the client runs the search, or has run it: of the tool, of a call, of a result. */
export function isClientSearch({ type, execution }: JsonObject): boolean {
  return stringOf(type).startsWith(TYPE) && execution === "client";
}

export function searchSubstitute({ description, parameters }: JsonObject): ToolSubstitute {
  return {
    name: TYPE,
    description: stringOf(description) || "Searches for further tools. Those that it finds can be called after it.",
    parameters: objectOf(parameters) ?? {
      type: "object",
      properties: { query: { type: "string", description: "Words for what the tool has to do." } },
      required: ["query"],
    },
    restore: restoreSearch,
  };
}

function restoreSearch(call: ToolCallPart): AnswerBlock {
  const args = parseObject(call.arguments === "" ? "{}" : call.arguments);
  if (args === undefined) return call;
  const { callId } = call;
  const item = { id: `tsc_${callId}`, type: `${TYPE}_call`, call_id: callId, status: "completed" };
  return { kind: "native", dialect: "responses", value: { ...item, execution: "client", arguments: args } };
}

/** The call of the function, or its result, that an item of such a search stands for; undefined for one without an id of its call. */
export function searchItem(
  item: JsonObject,
  at: string,
  names: ToolNames,
): { type: string; part: ToolCallPart | ToolResultPart } | undefined {
  const { type, call_id: id, arguments: args, tools } = item;
  const callId = stringOf(id);
  if (!isClientSearch(item) || callId === "") return undefined;
  if (type === `${TYPE}_call`) {
    const text = typeof args === "string" ? args : JSON.stringify(args ?? {});
    return { type: TYPE, part: { kind: "tool-call", at, callId, name: TYPE, arguments: text } };
  }
  const text = textOfFound(objectsOf(tools), names);
  const part: ToolResultPart = {
    kind: "tool-result",
    at: `${at}.call_id`,
    callId,
    content: [{ kind: "text", text }],
  };
  return { type: TYPE, part };
}

/** The names alone: the definitions are among the tools of the request. */
function textOfFound(tools: readonly JsonObject[], names: ToolNames): string {
  const found = tools.flatMap((tool) => {
    if (tool["type"] !== "namespace") return [stringOf(tool["name"])];
    return listOf(tool["tools"]).map((inner) => names.flatten(stringOf(objectOf(inner)?.["name"]), tool["name"]));
  });
  if (found.length === 0) return "No tools were found.";
  return `These tools can be called now: ${found.map((name) => JSON.stringify(name)).join(", ")}.`;
}
