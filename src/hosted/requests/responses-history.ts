/** Items of tools that the gateway runs in the input of a request, as calls and outputs of the functions that stand for them now. */
import { type JsonObject, keysOf, listOf, objectOf, stringOf } from "../../core/index.ts";
import { foundBySearch } from "../../dialects/index.ts";
import { fenced } from "../running/fence.ts";
import { foundText } from "../running/search-tools.ts";
import { errorText } from "../running/tool-outcome.ts";
import type { FunctionIndex } from "./functions.ts";
import { foundTools } from "./loaded-tools.ts";
import { type PendingUse, useIdOf } from "./messages-history.ts";
import { readRun } from "./run-history.ts";

interface ReadInput {
  input: unknown;
  /** Calls that the client has approved. */
  pending: readonly PendingUse[];
}

export function readItems(input: unknown, index: FunctionIndex): ReadInput {
  if (!Array.isArray(input) || index.isEmpty) return { input, pending: [] };
  const items = listOf(input).map((item) => objectOf(item) ?? {});
  const answers = new Map(
    items.flatMap((item) =>
      item["type"] === "mcp_approval_response" ? [[stringOf(item["approval_request_id"]), item] as const] : [],
    ),
  );
  const answered = new Set(items.flatMap((item) => (item["type"] === "shell_call_output" ? [item["call_id"]] : [])));
  const performed = new Set(
    items.flatMap((item) => (item["type"] === "mcp_call" ? [item["approval_request_id"]] : [])),
  );
  const pending: PendingUse[] = [];
  const searches = toolSearches(items);
  const read = items.flatMap((item): JsonObject[] => {
    const { type, id, server_label: label, name, arguments: text } = item;
    if (type === "mcp_list_tools" && index.hasServer(label)) return [];
    if (type === "mcp_approval_response") return [];
    if (type === "web_search_call") return readSearch(item, index);
    const run = readRun(item, index, answered);
    if (run !== undefined) return run;
    if (isServerSearch(item)) return readToolSearch(item, searches.get(item), index);
    const called = index.ofServer(label, name);
    if (called === undefined || (type !== "mcp_call" && type !== "mcp_approval_request")) return [item];
    const call = { type: "function_call", call_id: id, name: called.name, arguments: stringOf(text) };
    const output = (told: string): JsonObject => ({ type: "function_call_output", call_id: id, output: told });
    if (type === "mcp_call") return [call, output(resultOf(item))];
    const answer = answers.get(stringOf(id));
    // One that has been performed stands behind as a call.
    if (answer === undefined) return [];
    if (answer["approve"] !== true) return [call, output(refusalOf(answer))];
    if (performed.has(id)) return [];
    pending.push({ id: stringOf(id), name: called.name, arguments: stringOf(text), approvalId: stringOf(id) });
    return [call];
  });
  return { input: read, pending };
}

const webActions = { search: "web_search", open_page: "open_page", find_in_page: "find_in_page" } as const;

/** A search, or a page that was opened; it stays as it is if its tool has no function. The item has no texts of pages. */
function readSearch(item: JsonObject, index: FunctionIndex): JsonObject[] {
  const { id, status } = item;
  const action = objectOf(item["action"]) ?? {};
  const { type = "search", query, queries, url, pattern } = action;
  const kind = keysOf(webActions).find((each) => each === type);
  const called = kind && index.withAction(webActions[kind]);
  if (called === undefined) return [item];
  const asked = stringOf(query) || stringOf(listOf(queries)[0]);
  const input = kind === "search" ? { query: asked } : kind === "open_page" ? { url } : { url, pattern };
  // One that has not got so far has nothing to tell.
  if (Object.values(input).some((value) => stringOf(value) === "")) return [];
  const found = foundBySearch(action);
  const text = found === "" ? "The result is not in this conversation any more." : `Pages found:\n${found}`;
  const output = status === "failed" ? errorText("unavailable") : fenced(text, useIdOf(stringOf(id)));
  return [
    { type: "function_call", call_id: id, name: called.name, arguments: JSON.stringify(input) },
    { type: "function_call_output", call_id: id, output },
  ];
}

/** A search among tools that no client has run: its call, or its result. */
function isServerSearch({ type, execution }: JsonObject): boolean {
  return (type === "tool_search_call" || type === "tool_search_output") && execution !== "client";
}

/** The outputs of such searches by their calls, which have no ids in common: each call has the next one. */
function toolSearches(items: readonly JsonObject[]): ReadonlyMap<JsonObject, JsonObject> {
  const outputs = new Map<JsonObject, JsonObject>();
  const open: JsonObject[] = [];
  for (const item of items.filter(isServerSearch)) {
    if (item["type"] === "tool_search_call") open.push(item);
    else {
      const call = open.shift();
      if (call !== undefined) outputs.set(call, item);
    }
  }
  return outputs;
}

/** A search as it was performed; it stays as it is if its tool has no function. */
function readToolSearch(item: JsonObject, output: JsonObject | undefined, index: FunctionIndex): JsonObject[] {
  const { id, type, status, arguments: args } = item;
  const called = index.withAction("tool_search");
  if (called === undefined) return [item];
  if (type === "tool_search_output") return [];
  const names = foundTools(output?.["tools"]).map(({ name, namespace, label }) => ({
    name: label === undefined ? stringOf(name) : (index.ofServer(label, name)?.name ?? stringOf(name)),
    namespace: namespace === undefined ? undefined : { name: stringOf(namespace), description: "" },
  }));
  const text = status === "incomplete" ? errorText("invalid_tool_input") : foundText(names);
  return [
    { type: "function_call", call_id: id, name: called.name, arguments: JSON.stringify(args ?? {}) },
    { type: "function_call_output", call_id: id, output: text },
  ];
}

function resultOf({ id, output, error }: JsonObject): string {
  if (error !== null && error !== undefined) return `Error: ${stringOf(error) || JSON.stringify(error)}`;
  return fenced(stringOf(output), useIdOf(stringOf(id)));
}

function refusalOf({ reason }: JsonObject): string {
  const why = stringOf(reason);
  return `The user has refused this call${why === "" ? "." : `: ${why}`}`;
}
