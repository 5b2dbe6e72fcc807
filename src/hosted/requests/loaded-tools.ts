/** The deferred tools that a request's model knows from its history, or must call. */
import { type JsonObject, listOf, objectOf, objectsOf } from "../../core/index.ts";
import type { HostedDialect } from "./asked-tools.ts";
import type { ToolCatalog } from "./deferred-tools.ts";
import type { FunctionIndex } from "./functions.ts";

/** Loads those that searches have found, that were called, and that `tool_choice` names, in this order. */
export function loadKnown(
  catalog: ToolCatalog,
  dialect: HostedDialect,
  { body, functions }: { body: JsonObject; functions: FunctionIndex },
): void {
  const loading = { catalog, functions };
  if (dialect === "messages") for (const message of objectsOf(body["messages"])) loadIn(message["content"], loading);
  if (dialect === "responses") for (const item of objectsOf(body["input"])) loadOf(item, loading);
  if (dialect === "chat") for (const message of objectsOf(body["messages"])) loadCalls(message["tool_calls"], catalog);
  const choice = objectOf(body["tool_choice"]);
  for (const chosen of [choice ?? {}, ...objectsOf(choice?.["tools"])])
    catalog.loadNamed(objectOf(chosen["function"])?.["name"] ?? chosen["name"]);
}

interface Loading {
  catalog: ToolCatalog;
  functions: FunctionIndex;
}

/** Blocks of Messages. */
function loadIn(content: unknown, loading: Loading): void {
  const { catalog, functions } = loading;
  for (const block of objectsOf(content)) {
    const { type, name, tool_name: referenced, server_name: label, content: inner } = block;
    if (type === "tool_reference") catalog.loadNamed(referenced);
    else if (type === "tool_use") catalog.loadNamed(name);
    else if (type === "mcp_tool_use") catalog.loadNamed(functions.ofServer(label, name)?.name);
    else if (type === "tool_result") loadIn(inner, loading);
    else if (type === "tool_search_tool_result") loadIn(objectOf(inner)?.["tool_references"], loading);
    else if (type === "tool_addition") catalog.loadNamed(objectOf(block["tool"])?.["name"]);
  }
}

/** An item of Responses. */
function loadOf(
  { type, name, namespace, server_label: label, tools }: JsonObject,
  { catalog, functions }: Loading,
): void {
  if (type === "function_call" || type === "custom_tool_call") catalog.loadNamed(name, namespace);
  else if (type === "mcp_call") catalog.loadNamed(functions.ofServer(label, name)?.name);
  else if (type === "tool_search_output")
    for (const found of foundTools(tools))
      catalog.loadNamed(
        found.label === undefined ? found.name : functions.ofServer(found.label, found.name)?.name,
        found.namespace,
      );
}

interface FoundName {
  name: unknown;
  namespace?: unknown;
  /** Of its server. */
  label?: unknown;
}

/** The names of the tools in the output of a search. */
export function foundTools(tools: unknown): FoundName[] {
  return objectsOf(tools).flatMap((tool): FoundName[] => {
    const { type, name, server_label: label } = tool;
    if (type === "namespace")
      return objectsOf(tool["tools"]).map((inner) => ({ name: inner["name"], namespace: name }));
    return type === "mcp" ? listOf(tool["allowed_tools"]).map((each) => ({ name: each, label })) : [{ name }];
  });
}

/** Calls of chat. */
function loadCalls(calls: unknown, catalog: ToolCatalog): void {
  for (const call of objectsOf(calls)) catalog.loadNamed(objectOf(call["function"] ?? call["custom"])?.["name"]);
}
