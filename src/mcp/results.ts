/** The results of all methods, in both eras. Older clients get no members of a later revision, which strict ones would reject. */
import type { JsonObject } from "../core/index.ts";
import { type SessionRevision, serverInfoKey, STATELESS, tasksExtension } from "./revisions.ts";
import type { McpServer, ToolListing, ToolResult, ToolTask } from "./server.ts";

/** How long a client may take a list for current, in milliseconds. Lists differ between callers. */
const LIST_TTL_MS = 300_000;
const caching = { ttlMs: LIST_TTL_MS, cacheScope: "private" } as const;

function infoOf({ info }: McpServer): JsonObject {
  return { [serverInfoKey]: info };
}

/** `initialize`, which settles the revision of a session. */
export function initialized({ info, instructions }: McpServer, revision: SessionRevision): string {
  return JSON.stringify({ protocolVersion: revision, capabilities: { tools: {} }, serverInfo: info, instructions });
}

/** `server/discover` */
export function discovered(server: McpServer): string {
  return JSON.stringify({
    resultType: "complete",
    supportedVersions: [STATELESS],
    capabilities: { tools: {}, extensions: { [tasksExtension]: {} } },
    instructions: server.instructions,
    ...caching,
    _meta: infoOf(server),
  });
}

/** `tools/list`. `tools` is the text of a JSON array: it may be long, and is the same for many callers. */
export function listed({ tools, unavailable = [] }: ToolListing, server: McpServer, isStateless: boolean): string {
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

/** `tools/call`, answered with a task. */
export function begun({ result: _result, ...task }: ToolTask, server: McpServer): string {
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
