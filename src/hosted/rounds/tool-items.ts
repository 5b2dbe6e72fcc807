/** A use of a hosted tool as the items of a dialect. In chat it is invisible. */
import type { JsonObject } from "../../core/index.ts";
import { type AnswerBlock, packResult } from "../../dialects/index.ts";
import type { AskedTool, HostedDialect } from "../requests/asked-tools.ts";
import type { HostedAction } from "../requests/functions.ts";
import type { FoundPage, ToolOutcome } from "../running/tool-outcome.ts";

/** A use that has begun. */
export interface BegunUse {
  /** Unique to the use; letters, digits and _. */
  id: string;
  action: HostedAction;
  tool: AskedTool;
  /** The arguments, parsed. */
  input: JsonObject;
  /** Whether the client asks for the addresses that a search has found. */
  showsSources: boolean;
}

export interface UseItems {
  /** The block that shows that it runs; undefined for none. */
  begun(use: BegunUse): AnswerBlock | undefined;
  /** The final value of that block; undefined if it stays as it is. */
  ended(use: BegunUse, outcome: ToolOutcome): JsonObject | undefined;
  /** A block with the result. */
  result(use: BegunUse, outcome: ToolOutcome): AnswerBlock | undefined;
}

const nothing = (): undefined => undefined;

const native = (dialect: "messages" | "responses", value: JsonObject): AnswerBlock => ({
  kind: "native",
  dialect,
  value,
});

export const useItems: Readonly<Record<HostedDialect, UseItems>> = {
  chat: { begun: nothing, ended: nothing, result: nothing },
  messages: {
    begun: ({ id, action, input }) =>
      native("messages", { type: "server_tool_use", id: `srvtoolu_${id}`, name: action, input }),
    ended: nothing,
    result: (use, outcome) => native("messages", resultBlock(use, outcome)),
  },
  responses: {
    begun: ({ id }) => native("responses", { id: `ws_${id}`, type: "web_search_call", status: "in_progress" }),
    ended: (use, outcome) => ({
      id: `ws_${use.id}`,
      type: "web_search_call",
      status: outcome.error === undefined ? "completed" : "failed",
      action: actionOf(use, outcome),
    }),
    result: nothing,
  },
};

function resultBlock({ id, action }: BegunUse, { error, pages }: ToolOutcome): JsonObject {
  const type = action === "web_search" ? "web_search" : "web_fetch";
  const content =
    error !== undefined
      ? { type: `${type}_tool_result_error`, error_code: error }
      : action === "web_search"
        ? pages.map(searchResult)
        : fetchResult(pages[0]);
  return { type: `${type}_tool_result`, tool_use_id: `srvtoolu_${id}`, content };
}

function searchResult({ url, title, text }: FoundPage): JsonObject {
  return { type: "web_search_result", title, url, encrypted_content: packResult(text), page_age: null };
}

function fetchResult(page: FoundPage | undefined): JsonObject {
  const { url = "", title = "", text = "" } = page ?? {};
  const source = { type: "text", media_type: "text/plain", data: text };
  return { type: "web_fetch_result", url, retrieved_at: null, content: { type: "document", title, source } };
}

function actionOf({ action, showsSources }: BegunUse, { input, pages }: ToolOutcome): JsonObject {
  if (action !== "web_search") return { type: action === "find_in_page" ? action : "open_page", ...input };
  const { query } = input;
  const sources = pages.map(({ url }) => ({ type: "url", url }));
  return { type: "search", query, queries: [query], ...(showsSources && { sources }) };
}
