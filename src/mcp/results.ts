/** The results of all methods, in both eras. Older clients get no members of a later revision, which strict ones would reject. */
import { type JsonObject, objectOf } from "../core/index.ts";
import { type SessionRevision, serverInfoKey, STATELESS, tasksExtension } from "./revisions.ts";
import type { McpServer, ToolListing, ToolResult, ToolTask, UserAddress } from "./server.ts";

/** How long a client may take a list for current, in milliseconds. Lists differ between callers. */
const LIST_TTL_MS = 300_000;
const caching = { ttlMs: LIST_TTL_MS, cacheScope: "private" } as const;

function infoOf({ info }: Pick<McpServer, "info">): JsonObject {
  return { [serverInfoKey]: info };
}

/** `initialize`, which settles the revision of a session. */
export function initialized(server: McpServer, revision: SessionRevision): string {
  const { info, instructions } = server;
  const capabilities = capabilitiesOf(server);
  return JSON.stringify({ protocolVersion: revision, capabilities, serverInfo: info, instructions });
}

/** A server that has no prompts or resources has empty lists of them. */
function capabilitiesOf({ relay }: McpServer): JsonObject {
  if (relay === undefined) return { tools: {} };
  const list = { listChanged: true };
  return { tools: list, prompts: list, resources: { subscribe: true, ...list }, completions: {}, logging: {} };
}

/** `server/discover` */
export function discovered(server: McpServer): string {
  return JSON.stringify({
    resultType: "complete",
    supportedVersions: [STATELESS],
    capabilities: { ...capabilitiesOf(server), extensions: { [tasksExtension]: {} } },
    instructions: server.instructions,
    ...caching,
    _meta: infoOf(server),
  });
}

/** `tools/list`. `tools` is the text of a JSON array: it may be long, and is the same for many callers. */
export function listed(
  { tools, unavailable = [] }: ToolListing,
  server: Pick<McpServer, "info">,
  isStateless: boolean,
): string {
  const missing = unavailable.length > 0 && { "tollgate/unavailable": unavailable };
  if (!isStateless) return `{"tools":${tools}${missing === false ? "" : `,"_meta":${JSON.stringify(missing)}`}}`;
  const rest = JSON.stringify({ resultType: "complete", ...caching, _meta: { ...missing, ...infoOf(server) } });
  return `{"tools":${tools},${rest.slice(1)}`;
}

/** `tools/call`, answered with its result. */
export function called(result: ToolResult, server: McpServer, isStateless: boolean): string {
  if (!isStateless) return JSON.stringify(result);
  const { _meta: meta, ...rest } = result;
  return JSON.stringify({ resultType: "complete", ...rest, _meta: { ...meta, ...infoOf(server) } });
}

/** `tools/call`, answered with an address for the user: the client makes the call again, with the user's answer. */
export function askedUser({ url, message }: UserAddress, server: McpServer): string {
  const params = { mode: "url", elicitationId: url, url, message };
  const inputRequests = { connect: { method: "elicitation/create", params } };
  return JSON.stringify({ resultType: "input_required", inputRequests, _meta: infoOf(server) });
}

/** The result of another server. It may differ between callers, and be current for as long as its server says. */
export function relayedResult(result: JsonObject, server: McpServer, isStateless: boolean): string {
  const { resultType: _type, cacheScope: _scope, ttlMs, _meta: meta, ...rest } = result;
  if (!isStateless) return JSON.stringify({ ...rest, ...(meta !== undefined && { _meta: meta }) });
  if (result["resultType"] === "input_required")
    return JSON.stringify({ resultType: "input_required", ...rest, _meta: { ...objectOf(meta), ...infoOf(server) } });
  const current = typeof ttlMs === "number" && ttlMs >= 0 ? ttlMs : 0;
  const own = { ...objectOf(meta), ...infoOf(server) };
  return JSON.stringify({ resultType: "complete", ...rest, ttlMs: current, cacheScope: "private", _meta: own });
}

/** `tools/call`, answered with a task. */
export function begun(
  { result: _result, error: _error, inputRequests: _asked, ...task }: ToolTask,
  server: McpServer,
): string {
  return JSON.stringify({ resultType: "task", ...task, _meta: infoOf(server) });
}

/** `tasks/get` */
export function followed(task: ToolTask, server: McpServer): string {
  return JSON.stringify({ resultType: "complete", ...task, _meta: infoOf(server) });
}

/** The acknowledgement of `tasks/update` and `tasks/cancel`. */
export function acknowledged(server: McpServer): string {
  return JSON.stringify({ resultType: "complete", _meta: infoOf(server) });
}
