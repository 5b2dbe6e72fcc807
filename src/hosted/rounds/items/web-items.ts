/** Searches, and looks at pages. */
import type { JsonObject } from "../../../core/index.ts";
import type { WebFunction } from "../../requests/functions.ts";
import type { FoundPage, ToolOutcome } from "../../running/tool-outcome.ts";
import { type BegunUse, direct, nativeBlock, type UseItems } from "./begun-use.ts";

/** The member of `include` for the addresses that searches have found. */
const SOURCES = "web_search_call.action.sources";

export const webItems = {
  messages(called: WebFunction, { id, input, seal }: BegunUse): UseItems {
    const use = { type: "server_tool_use", id: `srvtoolu_${id}`, name: called.action, caller: direct, input };
    return {
      begun: nativeBlock("messages", use),
      result: (outcome) => nativeBlock("messages", resultBlock(called, use.id, { outcome, seal })),
    };
  },
  responses(called: WebFunction, use: BegunUse): UseItems {
    const item = { id: `ws_${use.id}`, type: "web_search_call" };
    return {
      begun: nativeBlock("responses", { ...item, status: "in_progress" }),
      ended(outcome) {
        const status = outcome.error === undefined ? "completed" : "failed";
        return { ...item, status, action: actionOf(called, use.includes.has(SOURCES), outcome) };
      },
    };
  },
};

function resultBlock(
  { action }: WebFunction,
  id: string,
  { outcome: { error, pages }, seal }: { outcome: ToolOutcome; seal: BegunUse["seal"] },
): JsonObject {
  const type = action === "web_search" ? "web_search" : "web_fetch";
  const content =
    error !== undefined
      ? { type: `${type}_tool_result_error`, error_code: error }
      : action === "web_search"
        ? pages.map((page) => searchResult(page, seal))
        : fetchResult(pages[0]);
  return { type: `${type}_tool_result`, tool_use_id: id, content, caller: direct };
}

function searchResult({ url, title, text }: FoundPage, seal: BegunUse["seal"]): JsonObject {
  return { type: "web_search_result", title, url, encrypted_content: seal(text), page_age: null };
}

function fetchResult(page: FoundPage | undefined): JsonObject {
  const { url = "", title = "", text = "" } = page ?? {};
  const source = { type: "text", media_type: "text/plain", data: text };
  return { type: "web_fetch_result", url, retrieved_at: null, content: { type: "document", title, source } };
}

function actionOf({ action }: WebFunction, showsSources: boolean, { input, pages }: ToolOutcome): JsonObject {
  if (action !== "web_search") return { type: action === "find_in_page" ? action : "open_page", ...input };
  const { query } = input;
  const sources = pages.map(({ url }) => ({ type: "url", url }));
  return { type: "search", query, queries: [query], ...(showsSources && { sources }) };
}
