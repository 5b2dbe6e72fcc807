import { z } from "@hono/zod-openapi";
import { GatewayError } from "../../core/index.ts";
import type { ListedRealtimeSession } from "../../realtime/index.ts";
import { callPlaces } from "../../spending/index.ts";
import { parseQuery } from "../parse-query.ts";
import type { RouteCall } from "../route.ts";
import { accountsOf, type AdminNeeds, adminRoute, listOf, listSchema, pageQuery } from "./admin-route.ts";
import { placeFields, placeJson } from "./place.ts";
import { actHeaders, actQuery, contextOf, idOf } from "./requests.ts";

const session = z
  .object({
    object: z.literal("realtime_session"),
    id: z.string().describe("The `x-request-id` of its handshake, the `parent_id` of its generations."),
    type: z.enum(["realtime", "transcription"]),
    model: z.string(),
    ...placeFields,
    token_id: z.string(),
    end_user: z.string().nullable().describe("The caller's own user, as the handshake's headers name it."),
    node: z.string().describe("The process that has it."),
    opened_at: z.iso.datetime(),
    ending: z.boolean().describe("Whether an operator has asked for its end."),
  })
  .meta({ id: "AdminRealtimeSession" });

async function shownTo(
  call: RouteCall,
  needs: AdminNeeds,
  found: readonly ListedRealtimeSession[],
): Promise<z.input<typeof session>[]> {
  if (found.length === 0) return [];
  const placeOf = await callPlaces(accountsOf(call, needs), found);
  return found.map((one) => ({
    object: "realtime_session",
    id: one.id,
    type: one.type,
    model: one.model,
    ...placeJson(placeOf(one)),
    token_id: one.tokenId,
    end_user: one.endUser ?? null,
    node: one.node,
    opened_at: new Date(one.openedAt).toISOString(),
    ending: one.endAskedAt !== undefined,
  }));
}

const listRoute = adminRoute(
  {
    route: "get /admin/v1/realtime_sessions",
    operationId: "listRealtimeSessions",
    summary: "Open realtime sessions of all users on all nodes, by id; a new one is here within about a second.",
    query: pageQuery,
    answer: listSchema(session),
  },
  async (call, needs) => {
    const { limit, after } = parseQuery(call.request, pageQuery);
    const found = await needs.sessionDirectory.list({ limit: limit + 1, after });
    return Response.json(listOf(await shownTo(call, needs, found), limit, (one) => one));
  },
);

const endRoute = adminRoute(
  {
    route: "delete /admin/v1/realtime_sessions/{id}",
    operationId: "endRealtimeSession",
    summary: "End a session, wherever it runs, within about a second; it is charged as if its client had left.",
    params: z.object({ id: z.string() }),
    query: actQuery,
    requestHeaders: actHeaders,
    answer: session,
    notFound: "No session with this id is open.",
  },
  async (call, needs) => {
    const { reason, dryRun = false } = contextOf(call);
    const { actor } = accountsOf(call, needs).caller;
    const found = await needs.sessionDirectory.end(idOf(call), { actor, reason, dryRun });
    if (found === undefined) throw new GatewayError("account_not_found", "No session with this id is open.");
    const [shown] = await shownTo(call, needs, [found]);
    return Response.json(shown);
  },
);

export const realtimeRoutes = [listRoute, endRoute];
