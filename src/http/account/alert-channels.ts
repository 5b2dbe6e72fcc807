import { z } from "@hono/zod-openapi";
import { addAlertChannel, listAlertChannels, type OwnAlertChannel, removeAlertChannel } from "../../accounts/index.ts";
import { accountsOf, type AdminNeeds, listOf, listSchema } from "../admin/admin-route.ts";
import { actHeaders, actQuery, bodyOf, contextOf, idOf, reason, reference } from "../admin/requests.ts";
import { platformRoute, type RouteCall } from "../route.ts";
import type { Services } from "../services.ts";

const URL_CHARACTERS_MAX = 2_048;
const THRESHOLDS_MAX = 10;

const body = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .max(URL_CHARACTERS_MAX)
      .describe("Where messages are posted, signed with the own webhook secret."),
    budget: reference.optional().describe("The id of an own budget; unset: all of them."),
    thresholds: z
      .array(z.int().min(1).max(100))
      .min(1)
      .max(THRESHOLDS_MAX)
      .default([50, 80, 100])
      .describe("Percent of a budget: one message each."),
    reason,
  })
  .meta({ id: "AlertChannelRequest" });

const answer = z
  .object({
    object: z.literal("alert_channel"),
    id: z.string(),
    url: z.string().describe("Its origin alone for a token with limits of its own."),
    budget: z
      .string()
      .nullable()
      .describe("Null for all own budgets: the user's or project's, and those of their tokens."),
    thresholds: z.array(z.int()),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "OwnAlertChannel" });

function shown({ id, url, budgetId, thresholds, createdAt }: OwnAlertChannel): z.input<typeof answer> {
  const created = new Date(createdAt).toISOString();
  return {
    object: "alert_channel",
    id,
    url,
    budget: budgetId ?? null,
    thresholds: [...thresholds],
    created_at: created,
  };
}

type Needs = AdminNeeds & Pick<Services, "webhooks" | "ownAlerts">;

const listRoute = platformRoute({
  contract: {
    method: "get",
    path: "/v1/alerts/channels",
    operationId: "listAlertChannels",
    tag: "Account",
    summary: "The addresses that get messages about one's own budgets.",
    answer: listSchema(answer),
  },
  access: "token",
  async handle(call: RouteCall, needs: Needs): Promise<Response> {
    const found = await listAlertChannels(accountsOf(call, needs), call.principal.user);
    return Response.json(listOf(found, found.length, shown));
  },
});

const createRoute = platformRoute({
  contract: {
    method: "post",
    path: "/v1/alerts/channels",
    operationId: "createAlertChannel",
    tag: "Account",
    summary: "Get messages when one's own budgets reach thresholds.",
    query: actQuery,
    requestHeaders: actHeaders,
    body,
    answer,
    notFound: "The budget is not the caller's.",
    conflict: "There are 10 channels, which is the most, or one has this address and these budgets already.",
  },
  access: "token",
  async handle(call: RouteCall, needs: Needs): Promise<Response> {
    const { url, budget: budgetId, thresholds, ...wanted } = await bodyOf(call, needs, body);
    const owner = call.principal.user;
    await needs.webhooks.check({ owner, url, param: "url" });
    const sorted = [...new Set(thresholds)].toSorted((one, other) => one - other);
    const request = { owner, url, budgetId, thresholds: sorted, watch: needs.ownAlerts.look };
    return Response.json(shown(await addAlertChannel(accountsOf(call, needs), request, contextOf(call, wanted))));
  },
});

const deleteRoute = platformRoute({
  contract: {
    method: "delete",
    path: "/v1/alerts/channels/{id}",
    operationId: "deleteAlertChannel",
    tag: "Account",
    summary: "Delete a channel, which gets no further message.",
    params: z.object({ id: z.string() }),
    query: actQuery,
    requestHeaders: actHeaders,
    answer,
    notFound: "The caller has no channel with this id.",
  },
  access: "token",
  async handle(call: RouteCall, needs: Needs): Promise<Response> {
    const asked = { owner: call.principal.user, id: idOf(call) };
    return Response.json(shown(await removeAlertChannel(accountsOf(call, needs), asked, contextOf(call))));
  },
});

export const alertChannelRoutes = [listRoute, createRoute, deleteRoute];
