/** Searches among deferred tools. */
import type { JsonObject } from "../../../core/index.ts";
import type { DeferredTool } from "../../requests/deferred-tools.ts";
import type { SearchFunction } from "../../requests/functions.ts";
import type { ToolErrorCode, ToolOutcome } from "../../running/tool-outcome.ts";
import { type BegunUse, direct, nativeBlock, type UseItems } from "./begun-use.ts";

export const searchItems = {
  messages({ action }: SearchFunction, { id, input }: BegunUse): UseItems {
    const use = { type: "server_tool_use", id: `srvtoolu_${id}`, name: action, caller: direct, input };
    return {
      begun: nativeBlock("messages", use),
      result(outcome) {
        const type = "tool_search_tool_result";
        return nativeBlock("messages", { type, tool_use_id: use.id, content: contentOf(outcome) });
      },
    };
  },
  responses(_called: SearchFunction, { id, input }: BegunUse): UseItems {
    const run = { execution: "server", call_id: null };
    const call = { id: `tsc_${id}`, type: "tool_search_call", ...run, arguments: input };
    return {
      begun: nativeBlock("responses", { ...call, status: "in_progress" }),
      ended: ({ error }) => ({ ...call, status: error === undefined ? "completed" : "incomplete" }),
      result({ found = [] }) {
        const output = { id: `tso_${id}`, type: "tool_search_output", status: "completed", ...run };
        return nativeBlock("responses", { ...output, tools: listedTools(found) });
      },
    };
  },
};

function contentOf({ error, found = [], served }: ToolOutcome): JsonObject {
  if (error !== undefined)
    return { type: "tool_search_tool_result_error", error_code: codes[error] ?? error, error_message: served ?? null };
  const references = found.map(({ name }) => ({ type: "tool_reference", tool_name: name }));
  return { type: "tool_search_tool_search_result", tool_references: references };
}

/** The dialect has four codes. */
const codes: Readonly<Partial<Record<ToolErrorCode, ToolErrorCode>>> = { max_uses_exceeded: "too_many_requests" };

/** As their client has written them, in their namespaces; tools of a server as a selection of those. */
function listedTools(found: readonly DeferredTool[]): JsonObject[] {
  const owners = Map.groupBy(found, ({ namespace, served, name }) =>
    JSON.stringify([namespace?.name ?? null, served?.label ?? null, (namespace ?? served) ? null : name]),
  );
  return [...owners.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { namespace, served } = first;
    const given = group.map((tool) => tool.given ?? {});
    if (namespace !== undefined) return [{ type: "namespace", ...namespace, tools: given }];
    if (served === undefined) return given;
    const allowed = group.map(({ served: one, name }) => one?.name ?? name);
    return [{ type: "mcp", server_label: served.label, defer_loading: true, allowed_tools: allowed }];
  });
}
