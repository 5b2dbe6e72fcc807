import { z } from "@hono/zod-openapi";
import { reloadNodes, THERE_MS_MAX } from "../../nodes/index.ts";
import { accountsOf, adminRoute } from "./admin-route.ts";
import { actHeaders, bodyOf, contextOf, reason } from "./requests.ts";

/** Less than a client waits in silence. */
const RELOAD_MS_MAX = 45_000;

const body = z
  .strictObject({
    force: z.boolean().optional().describe("Removes providers even if stored answers, files or jobs need them."),
    reason,
  })
  .meta({ id: "ConfigurationReloadRequest" });

const outcome = z
  .object({
    object: z.literal("reload"),
    node: z.string(),
    ok: z.boolean().describe("Whether its configuration is in force; otherwise the one before stays."),
    changed: z.array(z.string()).describe("The settings that take effect from now on."),
    need_restart: z.array(z.string()).describe("Those that differ, and need a restart."),
    error: z.string().nullable().describe("Why nothing has changed; it names the key."),
  })
  .meta({ id: "ConfigurationReload" });

const answer = z.object({ object: z.literal("list"), data: z.array(outcome) });

export const reloadRoute = adminRoute(
  {
    route: "post /admin/v1/config/reload",
    operationId: "reloadConfiguration",
    summary: "Lets all nodes read their configuration again, and waits for the outcome.",
    query: z.object({
      dry_run: z
        .enum(["true", "false"])
        .optional()
        .describe("`true` lets each node compare it with the one in force, and changes nothing."),
    }),
    requestHeaders: actHeaders,
    body,
    answer,
  },
  async (call, needs) => {
    const wanted = await bodyOf(call, needs, body);
    const { force = false } = wanted;
    const { reason: why, dryRun } = contextOf(call, wanted);
    const { nodes: store, clock, admin } = needs;
    const { actor } = accountsOf(call, needs).caller;
    const check = dryRun === true;
    const act = { actor, reason: why, dryRun: check };
    await admin.log.note(act, { act: "config.reload", target: "nodes", after: { force } });
    const nodes = await store.seenSince(clock() - THERE_MS_MAX);
    const { randomBytes } = admin.environment;
    const reloaded = await reloadNodes(nodes, { store, randomBytes, force, check, waitMsMax: RELOAD_MS_MAX });
    const data = reloaded.map(({ node, result }) => ({ object: "reload", node, error: null, ...result }));
    return Response.json({ object: "list", data });
  },
);
