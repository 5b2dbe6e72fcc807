/** `/mcp`: the gateway's own tools over MCP, and behind it those of other servers. Each URL serves all revisions. */
import { z } from "@hono/zod-openapi";
import { decodeBody, parseBody, readBody } from "../../bodies/index.ts";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { errorText, originRefusal, RpcError, rpcCodes } from "../../mcp/index.ts";
import { EVENT_STREAM } from "../../streaming/index.ts";
import type { ToolDoor } from "../../tools/index.ts";
import type { Route, RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { serverAt } from "./server-at.ts";

const NO_DOOR = "There is no such server or set of servers here.";

const anyObject = z.looseObject({});

function refused(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code: number = status,
): Response {
  const body = errorText(undefined, new RpcError(code, message));
  return new Response(body, { status, headers: { ...headers, "content-type": "application/json" } });
}

/** The tools at the URL; undefined if it is none. */
function doorOf({ pathParameter }: RouteCall, { mcp }: Services): ToolDoor | undefined {
  const name = pathParameter("name");
  return name === "" ? mcp.gateway.own : mcp.gateway.door(name);
}

/** Undefined if the request may come in. */
function refusalOf({ headers }: Request, { mcp }: Services): Response | undefined {
  const reason = originRefusal(headers, mcp.origins);
  return reason === undefined ? undefined : refused(403, reason);
}

async function post(call: RouteCall, services: Services): Promise<Response> {
  const { request, principal } = call;
  const outside = refusalOf(request, services);
  if (outside !== undefined) return outside;
  const door = doorOf(call, services);
  if (door === undefined) return refused(404, NO_DOOR);
  // A page could send any other type without asking first.
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) return refused(415, "Send JSON, as application/json.");
  const body = await messageOf(request, services);
  if (body instanceof Response) return body;
  const { headers, signal } = request;
  return services.mcp.endpoint.post({
    headers,
    signal,
    body,
    owner: principal.tokenId,
    server: serverAt(door, services, call),
  });
}

/** The message, within the bounds of any JSON body; or the refusal of another body. */
async function messageOf(request: Request, { body: limits, memory }: Services): Promise<JsonObject | Response> {
  const share = memory.share();
  try {
    const bytes = await readBody(request, limits, share);
    return decodeBody(parseBody(bytes, anyObject, []));
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.code !== "validation_failed") throw thrown;
    return refused(400, thrown.message, {}, rpcCodes.parseError);
  } finally {
    share.free();
  }
}

/** The stream of changes of a session. */
async function get(call: RouteCall, services: Services): Promise<Response> {
  const { request, principal } = call;
  const outside = refusalOf(request, services);
  if (outside !== undefined) return outside;
  const door = doorOf(call, services);
  if (door === undefined) return refused(404, NO_DOOR);
  const { headers, signal } = request;
  const isStream = headers.get("accept")?.includes(EVENT_STREAM) === true && headers.has("mcp-session-id");
  const { endpoint } = services.mcp;
  const stream = isStream
    ? await endpoint.get({ headers, signal, owner: principal.tokenId, server: serverAt(door, services, call) })
    : undefined;
  return stream ?? refused(405, "Send messages with POST.", { allow: "POST, DELETE" });
}

function endSession({ request, principal }: RouteCall, services: Services): Response | Promise<Response> {
  return refusalOf(request, services) ?? services.mcp.endpoint.endSession(request.headers, principal.tokenId);
}

const common = { kind: "http", access: "token", surface: "mcp" } as const;

export const mcpRoutes: readonly Route<Services>[] = ["/mcp", "/mcp/{name}"].flatMap((path): Route<Services>[] => [
  { ...common, path, method: "post", handle: post },
  { ...common, path, method: "get", handle: get },
  { ...common, path, method: "delete", handle: endSession },
]);
