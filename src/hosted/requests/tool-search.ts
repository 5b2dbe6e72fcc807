/** Searches among the tools that a request defers, as functions of its model. */
import { type JsonObject, objectsOf, stringOf } from "../../core/index.ts";

/** The searches by the names that their calls have in each dialect. */
export type SearchAction = "tool_search" | "tool_search_tool_bm25" | "tool_search_tool_regex";

/** The search of a tool by its type. */
export function searchActionOf(type: string): SearchAction {
  if (type.startsWith("tool_search_tool_regex")) return "tool_search_tool_regex";
  return type.startsWith("tool_search_tool_bm25") ? "tool_search_tool_bm25" : "tool_search";
}

const limit = { type: "integer", description: "The most tools to return; 5 by default." };

const byWords: JsonObject = {
  type: "object",
  properties: { query: { type: "string", description: "Words for what the tool has to do." }, limit },
  required: ["query"],
  additionalProperties: false,
};

const byPattern: JsonObject = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      description: "A regular expression in Python's syntax, of at most 200 characters, such as (?i)create_.*issue.",
    },
    limit,
  },
  required: ["pattern"],
  additionalProperties: false,
};

const NAMESPACES_CHARACTERS_MAX = 2_000;

/** `tools`: the list of the request, whose namespaces with deferred tools the model is shown. */
export function searchDefinition(
  action: SearchAction,
  tools: readonly JsonObject[],
): { description: string; parameters: JsonObject } {
  const how = action === "tool_search_tool_regex" ? "with a regular expression" : "for words";
  const description =
    `There are further tools that are not in your list. This searches their names, descriptions and arguments ${how}; ` +
    "those that it finds are in your list from the next step on. Search before you say that you cannot do something.";
  const spaces = tools.filter(({ type, tools: inner }) => type === "namespace" && objectsOf(inner).some(isDeferred));
  const lines = spaces.map(({ name, description: text }) => `- ${stringOf(name)}: ${stringOf(text)}`);
  const listed =
    lines.length === 0 ? "" : `\nIt finds tools of:\n${lines.join("\n").slice(0, NAMESPACES_CHARACTERS_MAX)}`;
  return { description: description + listed, parameters: action === "tool_search_tool_regex" ? byPattern : byWords };
}

function isDeferred(tool: JsonObject): boolean {
  return tool["defer_loading"] === true;
}
