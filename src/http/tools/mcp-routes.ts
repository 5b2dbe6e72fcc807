/** `/mcp`: the gateway's own tools over MCP. One URL for all revisions of the protocol. */
import { z } from "@hono/zod-openapi";
import { decodeBody, parseBody, readBody } from "../../bodies/index.ts";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { errorText, originRefusal, RpcError, rpcCodes } from "../../mcp/index.ts";
import type { Route, RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { ownServer } from "./own-server.ts";

const path = "/mcp";

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

/** Undefined if the request may come in. */
function refusalOf({ headers }: Request, { mcp }: Services): Response | undefined {
  const reason = originRefusal(headers, mcp.origins);
  return reason === undefined ? undefined : refused(403, reason);
}

async function post(call: RouteCall, services: Services): Promise<Response> {
  const { request, principal } = call;
  const outside = refusalOf(request, services);
  if (outside !== undefined) return outside;
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
    server: ownServer(services, call),
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

/** There are no streams but those of a `POST`. */
function get({ request }: RouteCall, services: Services): Response {
  return refusalOf(request, services) ?? refused(405, "Send messages with POST.", { allow: "POST, DELETE" });
}

function endSession({ request, principal }: RouteCall, services: Services): Response {
  return refusalOf(request, services) ?? services.mcp.endpoint.endSession(request.headers, principal.tokenId);
}

const common = { kind: "http", access: "token", surface: "mcp", path } as const;

export const mcpRoutes: readonly Route<Services>[] = [
  { ...common, method: "post", handle: post },
  { ...common, method: "get", handle: get },
  { ...common, method: "delete", handle: endSession },
];
