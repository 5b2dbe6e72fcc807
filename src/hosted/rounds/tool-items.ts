/** A use of a hosted tool as the items of a dialect. In chat it is invisible. */
import type { JsonObject } from "../../core/index.ts";
import type { AnswerBlock } from "../../dialects/index.ts";
import type { HostedDialect } from "../requests/asked-tools.ts";
import type { HostedFunction } from "../requests/functions.ts";
import type { FoundServer, FoundTool } from "../running/served-tools.ts";
import type { FoundPage, ToolOutcome } from "../running/tool-outcome.ts";

/** A use that has begun. */
export interface BegunUse {
  /** Unique to the use; letters, digits and _. */
  id: string;
  called: HostedFunction;
  /** The arguments, parsed, and as the model has written them. */
  input: JsonObject;
  arguments: string;
  /** Whether the client asks for the addresses that a search has found. */
  showsSources: boolean;
  /** The id of the item by which the client was asked for it. */
  approvalId: string | undefined;
  /** Of texts for its user's client, which hands them back unread. */
  seal: (text: string) => string;
}

export interface UseItems {
  /** The block that shows that it runs; undefined for none. */
  begun(use: BegunUse): AnswerBlock | undefined;
  /** The final value of that block; undefined if it stays as it is. */
  ended(use: BegunUse, outcome: ToolOutcome): JsonObject | undefined;
  /** A block with the result. */
  result(use: BegunUse, outcome: ToolOutcome): AnswerBlock | undefined;
  /** A block that asks the client whether it may run. */
  approval(use: BegunUse): AnswerBlock | undefined;
  /** A block with the tools of a server. */
  list(server: FoundServer, id: string): { begun: AnswerBlock; whole: JsonObject } | undefined;
}

const nothing = (): undefined => undefined;

const native = (dialect: "messages" | "responses", value: JsonObject): AnswerBlock => ({
  kind: "native",
  dialect,
  value,
});

export const useItems: Readonly<Record<HostedDialect, UseItems>> = {
  chat: { begun: nothing, ended: nothing, result: nothing, approval: nothing, list: nothing },
  messages: {
    begun: (use) => native("messages", useBlock(use)),
    ended: nothing,
    result: (use, outcome) => native("messages", resultBlock(use, outcome)),
    approval: nothing,
    list: nothing,
  },
  responses: {
    begun: (use) => native("responses", begunItem(use)),
    ended: (use, outcome) => (use.called.action === "mcp" ? servedItem(use, outcome) : searchItem(use, outcome)),
    result: nothing,
    approval: (use) => native("responses", approvalItem(use)),
    list({ label, tools }, id) {
      const item = { id: `mcpl_${id}`, type: "mcp_list_tools", server_label: label };
      const whole = { ...item, tools: tools.map(listedTool) };
      return { begun: native("responses", { ...item, status: "in_progress", tools: [] }), whole };
    },
  },
};

function listedTool({ name, description, parameters, isReadOnly }: FoundTool): JsonObject {
  return { name, description, input_schema: parameters, annotations: { read_only: isReadOnly } };
}

function begunItem(use: BegunUse): JsonObject {
  if (use.called.action !== "mcp") return { id: `ws_${use.id}`, type: "web_search_call", status: "in_progress" };
  return { ...callItem(use, `mcp_${use.id}`), status: "in_progress", output: null, error: null };
}

function callItem({ called, arguments: text, approvalId }: BegunUse, id: string): JsonObject {
  const named = called.action === "mcp" ? { server_label: called.server.label, name: called.served.name } : {};
  return { id, type: "mcp_call", ...named, arguments: text, approval_request_id: approvalId ?? null };
}

function servedItem(use: BegunUse, { served = "", error }: ToolOutcome): JsonObject {
  const failed = error !== undefined;
  return {
    ...callItem(use, `mcp_${use.id}`),
    status: failed ? "failed" : "completed",
    output: failed ? null : served,
    error: failed ? served : null,
  };
}

function approvalItem(use: BegunUse): JsonObject {
  const { approval_request_id: _, ...call } = callItem(use, `mcpr_${use.id}`);
  return { ...call, type: "mcp_approval_request" };
}

function searchItem(use: BegunUse, outcome: ToolOutcome): JsonObject {
  const status = outcome.error === undefined ? "completed" : "failed";
  return { id: `ws_${use.id}`, type: "web_search_call", status, action: actionOf(use, outcome) };
}

/** The model itself, no program that it has written. */
const direct = { type: "direct" } as const;

function useBlock({ id, called, input }: BegunUse): JsonObject {
  if (called.action !== "mcp")
    return { type: "server_tool_use", id: `srvtoolu_${id}`, name: called.action, caller: direct, input };
  const { served, server } = called;
  return { type: "mcp_tool_use", id: `mcptoolu_${id}`, name: served.name, server_name: server.label, input };
}

function resultBlock(
  { id, called: { action }, seal }: BegunUse,
  { error, pages, served = "" }: ToolOutcome,
): JsonObject {
  if (action === "mcp") {
    const content = [{ type: "text", text: served }];
    return { type: "mcp_tool_result", tool_use_id: `mcptoolu_${id}`, is_error: error !== undefined, content };
  }
  const type = action === "web_search" ? "web_search" : "web_fetch";
  const content =
    error !== undefined
      ? { type: `${type}_tool_result_error`, error_code: error }
      : action === "web_search"
        ? pages.map((page) => searchResult(page, seal))
        : fetchResult(pages[0]);
  return { type: `${type}_tool_result`, tool_use_id: `srvtoolu_${id}`, content, caller: direct };
}

function searchResult({ url, title, text }: FoundPage, seal: BegunUse["seal"]): JsonObject {
  return { type: "web_search_result", title, url, encrypted_content: seal(text), page_age: null };
}

function fetchResult(page: FoundPage | undefined): JsonObject {
  const { url = "", title = "", text = "" } = page ?? {};
  const source = { type: "text", media_type: "text/plain", data: text };
  return { type: "web_fetch_result", url, retrieved_at: null, content: { type: "document", title, source } };
}

function actionOf({ called: { action }, showsSources }: BegunUse, { input, pages }: ToolOutcome): JsonObject {
  if (action !== "web_search") return { type: action === "find_in_page" ? action : "open_page", ...input };
  const { query } = input;
  const sources = pages.map(({ url }) => ({ type: "url", url }));
  return { type: "search", query, queries: [query], ...(showsSources && { sources }) };
}
