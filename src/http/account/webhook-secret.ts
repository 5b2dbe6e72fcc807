import { z } from "@hono/zod-openapi";
import { requireNoLimits } from "../../accounts/index.ts";
import { GatewayError } from "../../core/index.ts";
import { WebhookError } from "../../webhooks/index.ts";
import { accountsOf, type AdminNeeds } from "../admin/admin-route.ts";
import { actHeaders, actQuery, bodyOf, contextOf, reason } from "../admin/requests.ts";
import { platformRoute, type RouteCall } from "../route.ts";
import type { Services } from "../services.ts";

const body = z
  .strictObject({
    rotate: z.boolean().optional().describe("Replaces the secret that there is; it signs as well for 24 hours more."),
    reason,
  })
  .meta({ id: "WebhookSecretRequest" });

const answer = z
  .object({
    object: z.literal("webhook_secret"),
    user: z.string(),
    user_id: z.string(),
    secret: z.string().nullable().describe("Shown only now; null of a dry run."),
    previous_signs_until: z.iso.datetime().nullable(),
  })
  .meta({ id: "WebhookSecret" });

type Needs = AdminNeeds & Pick<Services, "webhookSecrets">;

/** More rotations would fill the audit log, and end the secret that receivers have not replaced yet. */
const ROTATION_MS_MIN = 60_000;

export const webhookSecretRoute = platformRoute({
  contract: {
    method: "post",
    path: "/v1/webhooks/secret",
    operationId: "createWebhookSecret",
    tag: "Account",
    summary: "Make the secret that signs one's own webhooks, or replace it.",
    query: actQuery,
    requestHeaders: actHeaders,
    body,
    answer,
    conflict: "There is one, which can't be shown again, or it was replaced less than a minute ago.",
  },
  access: "token",
  async handle(call: RouteCall, needs: Needs): Promise<Response> {
    const wanted = await bodyOf(call, needs, body);
    const { user, userName = user } = call.principal;
    const deps = accountsOf(call, needs);
    const { reason: why, dryRun = false } = contextOf(call, wanted);
    const check = () => requireNoLimits(deps, "makes no secret of webhooks");
    const act = { actor: deps.caller.actor, reason: why, dryRun, check, rotationMsMin: ROTATION_MS_MIN };
    const { webhookSecrets: secrets } = needs;
    const making = wanted.rotate === true ? secrets.rotate(user, act) : secrets.make(user, act);
    const { secret, previousUntil } = await making.catch((thrown: unknown) => {
      throw refusalOf(thrown);
    });
    return Response.json({
      object: "webhook_secret",
      user: userName,
      user_id: user,
      secret: dryRun ? null : secret,
      previous_signs_until: previousUntil === undefined ? null : new Date(previousUntil).toISOString(),
    } satisfies z.input<typeof answer>);
  },
});

function refusalOf(thrown: unknown): unknown {
  if (!(thrown instanceof WebhookError)) return thrown;
  if (thrown.reason === "has-secret")
    return new GatewayError("account_conflict", "There is a secret, which can't be shown again: rotate replaces it.", {
      param: "rotate",
    });
  if (thrown.reason === "too-soon")
    return new GatewayError(
      "account_conflict",
      "The secret was replaced less than a minute ago: wait before the next time.",
      {
        param: "rotate",
      },
    );
  if (thrown.reason === "no-key")
    return new GatewayError("webhook_key_unset", "The operator has set no key for the secrets of webhooks.");
  return thrown;
}
