/** The tools at one URL as a server of MCP, for one caller. */
import { namingHeaders, toGatewayError } from "../../core/index.ts";
import type { McpServer, ToolAnswer, ToolCall } from "../../mcp/index.ts";
import type { ToolDoor } from "../../tools/index.ts";
import type { RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { errorResult } from "./own/ask-route.ts";
import { cancelTask, taskOf } from "./own/jobs.ts";
import { callSearchTool, searchListing, searchModeOf } from "./search-tools.ts";
import { callAt, fromOf, listingAt } from "./tool-door.ts";

const instructions =
  "Tools of an AI gateway: the web, images, sound, video, embeddings and other models. Calls cost credits of the " +
  "caller; budget_get returns what is left, models_list the models and their prices.";

export function serverAt(door: ToolDoor, services: Services, { requestId, principal, request }: RouteCall): McpServer {
  const from = fromOf(request, principal);
  const caller = { requestId, principal, services, naming: namingHeaders(request.headers), from };
  const mode = searchModeOf(request.url, services.mcp.searchAbove);
  const callTool = (call: ToolCall): Promise<ToolAnswer | undefined> =>
    callSearchTool(door, call, { mode, caller }) ?? callAt(door, call, caller);
  return {
    info: { name: "tollgate", title: "Tollgate", version: services.version },
    instructions,
    listTools: async () => searchListing(await listingAt(door, caller), mode),
    callTool: async (call) => {
      try {
        return await callTool(call);
      } catch (thrown) {
        return failed(services, requestId, call)(thrown);
      }
    },
    getTask: (id) => taskOf(caller, id),
    cancelTask: (id) => cancelTask(caller, id),
  };
}

/** A failure as the result that a model reads; the gateway's own are logged with their cause, as at every route. */
function failed({ logger }: Services, requestId: string, { name: tool }: ToolCall): (thrown: unknown) => ToolAnswer {
  return (thrown) => {
    const error = toGatewayError(thrown);
    const line = { request_id: requestId, tool, status: error.status, error: error.code };
    if (error.fault === "gateway" && error.cause !== undefined) logger.error({ ...line, err: error.cause }, "failed");
    else logger.info(line, "refused");
    const { code, status, param } = error;
    return { result: errorResult(error.message, { "tollgate/error": { code, status, param } }) };
  };
}
