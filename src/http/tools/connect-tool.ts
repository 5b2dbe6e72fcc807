/** A tool by which an agent finds the page that connects an account, for servers whose tools it cannot see before. */
import type { Principal } from "../../auth/index.ts";
import { GatewayError, type JsonObject, stringOf } from "../../core/index.ts";
import type { ToolAnswer, ToolCall } from "../../mcp/index.ts";
import { mayCall } from "../../tools/index.ts";
import type { Services } from "../services.ts";

export const CONNECT_TOOL = "account_connect";

/** The servers of these at which the caller could connect an account of their own, and call tools then. */
export function toConnect(
  servers: readonly string[],
  { principal, services: { mcp } }: { principal: Principal; services: Pick<Services, "mcp"> },
): string[] {
  const mayUse = (server: string): boolean =>
    mayCall(principal, `${server}__*`) || (principal.tools ?? []).some((glob) => glob.startsWith(`${server}__`));
  return servers.filter((server) => mcp.connectable.get(server)?.of === "user" && mayUse(server));
}

/** The definition that lists it; none without such servers. */
export function connectDefinitions(servers: readonly string[]): JsonObject[] {
  if (servers.length === 0) return [];
  const server = { type: "string", enum: servers, description: "The server." };
  return [
    {
      name: CONNECT_TOOL,
      title: "Connect an account",
      description: `Tools of ${servers.join(", ")} need an account of the user. Returns the address of a page on which the user connects it; list the tools again afterwards.`,
      inputSchema: { type: "object", properties: { server }, required: ["server"] },
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
  ];
}

/** The refusal that names the page, as the answer of this tool. */
export async function callConnect(
  { arguments: given, takesUrls = false }: ToolCall,
  servers: readonly string[],
  pageOf: (server: string) => Promise<{ url: string }>,
): Promise<ToolAnswer> {
  const server = servers.find((each) => each === stringOf(given["server"]));
  if (server === undefined)
    throw new GatewayError("validation_failed", `server: one of ${servers.join(", ")}`, { param: "server" });
  const { url } = await pageOf(server);
  const message = `Open ${url} to connect your account at ${server}.`;
  if (takesUrls) return { result: { asks: { url, message } } };
  return { result: { content: [{ type: "text", text: message }], structuredContent: { server, url } } };
}
