/** The tools at one URL as a server of MCP, for one caller. */
import { namingHeaders, toGatewayError, traceHeaders } from "../../core/index.ts";
import { type McpServer, nameOf, RpcError, type ToolAnswer, type ToolCall } from "../../mcp/index.ts";
import { ConnectionRequiredError, relay, ServerError, type ToolDoor, watchMembers } from "../../tools/index.ts";
import type { RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { errorResult } from "./own/ask-route.ts";
import { cancelTask, taskOf } from "./own/jobs.ts";
import { answeredInRounds } from "./client-input.ts";
import { cancelServerTask, serverTask, type TaskSeeker, updateServerTask } from "./server-tasks.ts";
import { callSearchTool, searchListing, searchModeOf } from "./search-tools.ts";
import { callAt, type DoorCaller, fromOf, listingAt, seekerOf } from "./tool-door.ts";

const instructions =
  "Tools of an AI gateway: the web, images, sound, video, embeddings and other models. Calls cost credits of the " +
  "caller; budget_get returns what is left, models_list the models and their prices.";

export function serverAt(door: ToolDoor, services: Services, { requestId, principal, request }: RouteCall): McpServer {
  const from = fromOf(request, principal);
  const caller = {
    requestId,
    principal,
    services,
    from,
    // Lists need none of them.
    get naming() {
      return { ...namingHeaders(request.headers), ...traceHeaders(request.headers) };
    },
  };
  const mode = searchModeOf(request.url, services.mcp.searchAbove);
  const callTool = (call: ToolCall): Promise<ToolAnswer | undefined> =>
    callSearchTool(door, call, { mode, caller }) ??
    callAt(door, call, { ...caller, parameterHeaders: call.input?.takesQuestions ? request.headers : undefined });
  return {
    info: { name: "tollgate", title: "Tollgate", version: services.version },
    instructions,
    listTools: async (isStateless) => searchListing(await listingAt(door, caller, isStateless), mode),
    callTool: async (call) => {
      try {
        return await callTool(call);
      } catch (thrown) {
        if (thrown instanceof RpcError) throw thrown;
        return failed(services, requestId, call)(thrown);
      }
    },
    ...tasksAt(door, caller),
    // Calls of tools need not know who may have what.
    get relay() {
      return relayAt(door, caller);
    },
    door: door.name,
    get watch() {
      return watchAt(door, caller);
    },
    onRetire: (callback) => retiring(callback, caller),
  };
}

function retiring(callback: () => void, { principal, services }: DoorCaller): () => void {
  const { onRetire, openAnswers } = services.mcp;
  const stream = { abort: callback };
  openAnswers.add(stream, principal);
  const leave = onRetire(callback);
  return () => {
    leave();
    openAnswers.remove(stream);
  };
}

/** The gateway's own tasks, and those of other servers. */
function tasksAt(door: ToolDoor, caller: DoorCaller): Pick<McpServer, "getTask" | "updateTask" | "cancelTask"> {
  const { principal, services } = caller;
  const seeker = (): TaskSeeker => ({
    door,
    user: principal.user,
    states: services.mcp.requestStates,
    seeker: seekerOf(caller),
  });
  return {
    getTask: async (asked) => (await taskOf(caller, asked.id)) ?? serverTask(asked, seeker()).catch(refuse),
    // None of the gateway's own asks for anything.
    updateTask: async (asked, responses) =>
      (await taskOf(caller, asked.id)) !== undefined || updateServerTask(asked, responses, seeker()).catch(refuse),
    cancelTask: async (asked) =>
      (await cancelTask(caller, asked.id)) || cancelServerTask(asked, seeker()).catch(refuse),
  };
}

function refuse(thrown: unknown): never {
  throw rpcErrorOf(thrown);
}

/** Undefined without other servers. */
function watchAt(door: ToolDoor, caller: DoorCaller): McpServer["watch"] {
  const seeker = seekerOf(caller);
  const members = door.membersFor(seeker.mayCall);
  if (door.membersFor(() => true).length === 0) return undefined;
  return async (wanted, onChange) => {
    const callable = [...new Set([...(await door.callableFor(seeker)), ...members])];
    return watchMembers({ members, callable, isSet: door.isSet, caller: seeker.caller }, wanted, onChange);
  };
}

/** Undefined without other servers. */
function relayAt(door: ToolDoor, caller: DoorCaller): McpServer["relay"] {
  const { caller: tools, mayCall } = seekerOf(caller);
  const members = door.membersFor(mayCall);
  if (members.length === 0) return undefined;
  return async ({ method, params, signal, input, log, trace: named }) => {
    const owner = [tools.user, method, door.name, nameOf(method, params) ?? ""];
    const trace = traceHeaders(new Headers({ ...caller.naming, ...named }));
    const options = { members, isSet: door.isSet, caller: tools, trace };
    try {
      const { result } = await answeredInRounds(caller.services.mcp, { owner, input, signal, log }, async (given) => ({
        result: await relay({ ...options, ...given }, { method, params }),
      }));
      return result;
    } catch (thrown) {
      throw rpcErrorOf(thrown);
    }
  };
}

const INTERNAL_ERROR = -32_603;

function rpcErrorOf(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof ServerError)
    return new RpcError(thrown.code, thrown.message, { ...(thrown.data !== undefined && { data: thrown.data }) });
  const { message, fault } = toGatewayError(thrown);
  if (fault === "gateway") throw thrown;
  return new RpcError(INTERNAL_ERROR, message);
}

/** A failure as the result that a model reads; the gateway's own are logged with their cause, as at every route. */
function failed(
  { logger }: Services,
  requestId: string,
  { name: tool, takesUrls = false }: ToolCall,
): (thrown: unknown) => ToolAnswer {
  return (thrown) => {
    const error = toGatewayError(thrown);
    const line = { request_id: requestId, tool, status: error.status, error: error.code };
    if (error.fault === "gateway" && error.cause !== undefined) logger.error({ ...line, err: error.cause }, "failed");
    else logger.info(line, "refused");
    const { code, status, param, message } = error;
    if (takesUrls && error instanceof ConnectionRequiredError) return { result: { asks: { url: error.url, message } } };
    return { result: errorResult(error.message, { "tollgate/error": { code, status, param } }) };
  };
}
