/** The accounts of users at servers of tools that take credentials of users. */
import { z } from "@hono/zod-openapi";
import { type AccountsDependencies, requireNoLimits } from "../../../accounts/index.ts";
import { GatewayError } from "../../../core/index.ts";
import { type ConnectingOptions, type ToolConnection, DEFAULT_ACCOUNT } from "../../../tools/index.ts";
import { accountsOf, type AdminNeeds, listOf, listSchema } from "../../admin/admin-route.ts";
import { actHeaders, actQuery, bodyOf, contextOf, idOf, reason } from "../../admin/requests.ts";
import type { Steps } from "../../../storage/index.ts";
import { platformRoute, type RouteCall } from "../../route.ts";
import type { Services } from "../../services.ts";

/** A token or key, as headers can contain it. */
export const SECRET = z
  .string()
  .max(8_192)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, "printable ASCII");

const body = z
  .strictObject({
    server: z
      .string()
      .regex(/^[a-z0-9-]{1,32}$/)
      .describe("The name of the server."),
    account: z
      .string()
      .regex(/^[\w.@+-]{1,64}$/, "up to 64 letters, digits and . _ @ + -")
      .default(DEFAULT_ACCOUNT)
      .describe("The caller's name for one of several accounts: calls choose it by `?account=`."),
    secret: SECRET.optional().describe(
      "The caller's token or key at the server. Without it, the answer has the address of a page that asks for it.",
    ),
    reason,
  })
  .meta({ id: "ToolConnectionRequest" });

const answer = z
  .object({
    object: z.literal("tool_connection"),
    id: z.string(),
    server: z.string(),
    account: z.string(),
    status: z
      .enum(["pending", "connected", "expired"])
      .describe("`pending`: without credentials. `expired`: the server takes them no longer."),
    url: z.string().optional().describe("The page on which the owner connects the account."),
    created_at: z.iso.datetime(),
    connected_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "ToolConnection" });

export type ConnectionNeeds = AdminNeeds & Pick<Services, "mcp">;

function shown({ mcp }: Pick<ConnectionNeeds, "mcp">, connection: ToolConnection): z.input<typeof answer> {
  const { id, server, account, status, createdAt, connectedAt } = connection;
  return {
    object: "tool_connection",
    id,
    server,
    account,
    status,
    ...(status !== "connected" && { url: mcp.connections.pageOf(connection) }),
    created_at: new Date(createdAt).toISOString(),
    connected_at: connectedAt === undefined ? null : new Date(connectedAt).toISOString(),
  };
}

/** A token with limits could give its holder's other calls an account that is not theirs, or take one away. */
export function requireUnlimited(deps: AccountsDependencies): Steps<void> {
  return requireNoLimits(deps, "changes no accounts at servers of tools");
}

export function checkOf(call: RouteCall, needs: ConnectionNeeds): Required<Pick<ConnectingOptions, "check">> {
  return { check: () => requireUnlimited(accountsOf(call, needs)) };
}

/** The owner of the operator's connections, which deployment owners alone see and change. */
const OPERATOR = "";

function actOf(
  call: RouteCall,
  needs: ConnectionNeeds,
  wanted: { reason?: string | null | undefined } = {},
): ConnectingOptions {
  const { reason: why, dryRun = false } = contextOf(call, wanted);
  return { actor: accountsOf(call, needs).caller.actor, reason: why, dryRun };
}

const listRoute = platformRoute({
  contract: {
    path: "/v1/tools/connections",
    operationId: "listToolConnections",
    tag: "Tools",
    summary: "List the caller's accounts at servers of tools.",
    answer: listSchema(answer),
  },
  access: "token",
  async handle({ principal }: RouteCall, needs: ConnectionNeeds) {
    const { store } = needs.mcp.connections;
    const ofOperator = principal.role === "owner" ? await store.of(OPERATOR) : [];
    const found = [...(await store.of(principal.user)), ...ofOperator];
    return Response.json(listOf(found, found.length, (each) => shown(needs, each)));
  },
});

const createRoute = platformRoute({
  contract: {
    method: "post",
    path: "/v1/tools/connections",
    operationId: "createToolConnection",
    tag: "Tools",
    summary: "Connect an account at a server of tools.",
    query: actQuery,
    requestHeaders: actHeaders,
    body,
    answer,
    conflict: "The caller has 20 accounts at this server, which is the most.",
  },
  access: "token",
  async handle(call: RouteCall, needs: ConnectionNeeds) {
    const { server, account, secret, ...wanted } = await bodyOf(call, needs, body);
    const { connections, connectable } = needs.mcp;
    const how = connectable.get(server);
    if (how === undefined) throw invalid("server", "no server of this name takes accounts");
    if (how.way === "sign-in" && secret !== undefined)
      throw invalid("secret", "this server is signed in to, at the url of the answer");
    const isOfAll = how.of === "operator";
    if (isOfAll && call.principal.role !== "owner")
      throw new GatewayError("role_required", "The account of this server is the operator's: owners connect it.");
    if (isOfAll && account !== DEFAULT_ACCOUNT) throw invalid("account", "this server has one account for all");
    const place = { server, account, owner: isOfAll ? OPERATOR : call.principal.user };
    const act = actOf(call, needs, wanted);
    // A link alone connects nothing: the page asks who it is.
    const made = await (secret === undefined
      ? connections.open(place, act)
      : connections.give(place, secret, { ...act, ...checkOf(call, needs) }));
    // An account is connected again there too.
    const url = secret === undefined ? { url: connections.pageOf(made) } : {};
    return Response.json({ ...shown(needs, made), ...url });
  },
});

const deleteRoute = platformRoute({
  contract: {
    method: "delete",
    path: "/v1/tools/connections/{id}",
    operationId: "deleteToolConnection",
    tag: "Tools",
    summary: "Forget an account at a server of tools, and its credentials.",
    params: z.object({ id: z.string() }),
    query: actQuery,
    requestHeaders: actHeaders,
    answer,
    notFound: "The caller has no such connection.",
  },
  access: "token",
  async handle(call: RouteCall, needs: ConnectionNeeds) {
    const { connections, signIns, connectable } = needs.mcp;
    const act = { ...actOf(call, needs), ...checkOf(call, needs) };
    const owners = call.principal.role === "owner" ? [call.principal.user, OPERATOR] : [call.principal.user];
    let removed: ToolConnection | undefined;
    for (const owner of owners) removed ??= await connections.remove({ id: idOf(call), owner }, act);
    if (removed === undefined) throw new GatewayError("object_not_found", "There is no such connection here.");
    if (act.dryRun !== true && connectable.get(removed.server)?.way === "sign-in") await signIns.revoke(removed);
    const { url: _url, ...rest } = shown(needs, removed);
    return Response.json(rest);
  },
});

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${problem}`, { param });
}

export const connectionRoutes = [listRoute, createRoute, deleteRoute];
