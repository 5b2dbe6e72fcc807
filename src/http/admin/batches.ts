import { z } from "@hono/zod-openapi";
import type { ListedBatch } from "../../batches/index.ts";
import { GatewayError } from "../../core/index.ts";
import { parseQuery } from "../parse-query.ts";
import { accountsOf, adminRoute, listOf, listSchema, pageQuery } from "./admin-route.ts";
import { ownerFields, ownerJson } from "./place.ts";
import { actHeaders, actQuery, contextOf, idOf, reference } from "./requests.ts";

const moment = z.iso.datetime();

const batch = z
  .object({
    object: z.literal("batch"),
    id: z.string(),
    ...ownerFields,
    token_id: z.string(),
    endpoint: z.string(),
    model: z.string().nullable().describe("Null if its lines name several."),
    provider: z.string().nullable().describe("The provider whose own batches have its lines; null for the gateway."),
    status: z.string(),
    lines: z.object({
      total: z.int(),
      succeeded: z.int(),
      failed: z.int(),
      cancelled: z.int(),
      expired: z.int(),
    }),
    created_at: moment,
    expires_at: moment,
    ended_at: moment.nullable(),
  })
  .meta({ id: "AdminBatch" });

/** Without its metadata and its addresses, which are its user's. */
function batchJson(found: ListedBatch): z.input<typeof batch> {
  const { id, owner, tokenId, endpoint, model, nativeProvider, status, createdAt, expiresAt, endedAt } = found;
  const { total, succeeded, failed, cancelled, expired } = found;
  return {
    object: "batch",
    id,
    ...ownerJson(owner),
    token_id: tokenId,
    endpoint,
    model: model ?? null,
    provider: nativeProvider ?? null,
    status,
    lines: { total, succeeded, failed, cancelled, expired },
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    ended_at: endedAt === undefined ? null : new Date(endedAt).toISOString(),
  };
}

function requireFound(found: ListedBatch | undefined): ListedBatch {
  if (found === undefined) throw new GatewayError("account_not_found", NONE);
  return found;
}

const NONE = "There is no batch with this id.";
const params = z.object({ id: z.string() });

const query = pageQuery.extend({
  user: reference.optional().describe("Of the user with this id alone."),
  order: z.enum(["asc", "desc"]).default("asc").describe("`desc`: the newest first."),
});

const listRoute = adminRoute(
  {
    route: "get /admin/v1/batches",
    operationId: "listAllBatches",
    summary: "Batches of all users, by id, which begins with the time.",
    query,
    answer: listSchema(batch),
  },
  async ({ request }, { batchDirectory }) => {
    const { limit, after, user: owner, order } = parseQuery(request, query);
    const page = { owner, after, isNewestFirst: order === "desc", limit: limit + 1 };
    return Response.json(listOf(await batchDirectory.list(page), limit, batchJson));
  },
);

const showRoute = adminRoute(
  {
    route: "get /admin/v1/batches/{id}",
    operationId: "getAnyBatch",
    summary: "One batch, without its lines.",
    params,
    answer: batch,
    notFound: NONE,
  },
  async (call, { batchDirectory }) => Response.json(batchJson(requireFound(await batchDirectory.find(idOf(call))))),
);

const cancelRoute = adminRoute(
  {
    route: "post /admin/v1/batches/{id}/cancel",
    operationId: "cancelAnyBatch",
    summary:
      "Begin no further line of a batch. The answer is the batch as it is then; one that has ended stays as it is.",
    params,
    query: actQuery,
    requestHeaders: actHeaders,
    answer: batch,
    notFound: NONE,
  },
  async (call, needs) => {
    const { reason, dryRun = false } = contextOf(call);
    const { actor } = accountsOf(call, needs).caller;
    const id = idOf(call);
    const before = requireFound(await needs.batchDirectory.find(id));
    const isCancelled = await needs.batchDirectory.cancel(id, { actor, reason, dryRun });
    const after = dryRun && isCancelled ? { ...before, status: "cancelling" as const } : undefined;
    return Response.json(batchJson(after ?? requireFound(await needs.batchDirectory.find(id))));
  },
);

export const batchRoutes = [listRoute, showRoute, cancelRoute];
