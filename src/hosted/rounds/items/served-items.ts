/** Uses of tools of servers, and the lists of those. */
import type { JsonObject } from "../../../core/index.ts";
import type { AnswerBlock } from "../../../dialects/index.ts";
import type { ServedFunction } from "../../requests/functions.ts";
import type { FoundServer, FoundTool } from "../../running/served-tools.ts";
import { type BegunUse, nativeBlock, type UseItems } from "./begun-use.ts";

export const servedItems = {
  messages({ served, server }: ServedFunction, { id, input }: BegunUse): UseItems {
    const called = `mcptoolu_${id}`;
    const use = { type: "mcp_tool_use", id: called, name: served.name, server_name: server.label, input };
    return {
      begun: nativeBlock("messages", use),
      result({ error, served: text = "" }) {
        const content = [{ type: "text", text }];
        const result = { type: "mcp_tool_result", tool_use_id: called, is_error: error !== undefined, content };
        return nativeBlock("messages", result);
      },
    };
  },
  responses(called: ServedFunction, use: BegunUse): UseItems {
    const call = callItem(called, use, `mcp_${use.id}`);
    const { approval_request_id: _, ...asked } = callItem(called, use, `mcpr_${use.id}`);
    return {
      begun: nativeBlock("responses", { ...call, status: "in_progress", output: null, error: null }),
      ended({ error, served = "" }) {
        const failed = error !== undefined;
        const status = failed ? "failed" : "completed";
        return { ...call, status, output: failed ? null : served, error: failed ? served : null };
      },
      approval: nativeBlock("responses", { ...asked, type: "mcp_approval_request" }),
    };
  },
};

function callItem(
  { server, served }: ServedFunction,
  { arguments: text, approvalId }: BegunUse,
  id: string,
): JsonObject {
  const named = { server_label: server.label, name: served.name };
  return { id, type: "mcp_call", ...named, arguments: text, approval_request_id: approvalId ?? null };
}

/** The item of Responses with the tools of a server: as it begins, and whole. */
export function listItem({ label, tools }: FoundServer, id: string): { begun: AnswerBlock; whole: JsonObject } {
  const item = { id: `mcpl_${id}`, type: "mcp_list_tools", server_label: label };
  const whole = { ...item, tools: tools.map(listedTool) };
  return { begun: nativeBlock("responses", { ...item, status: "in_progress", tools: [] }), whole };
}

function listedTool({ name, description, parameters, isReadOnly }: FoundTool): JsonObject {
  return { name, description, input_schema: parameters, annotations: { read_only: isReadOnly } };
}
