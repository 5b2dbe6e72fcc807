import { z } from "@hono/zod-openapi";
import { GatewayError } from "../../core/index.ts";
import { WebhookError } from "../../webhooks/index.ts";
import { actorOf } from "../admin/admin-route.ts";
import { actHeaders, bodyOf, contextOf, reason } from "../admin/requests.ts";
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
    secret: z.string().describe("Shown only now."),
    previous_signs_until: z.iso.datetime().nullable(),
  })
  .meta({ id: "WebhookSecret" });

type Needs = Pick<Services, "webhookSecrets" | "addressOf" | "body" | "memory">;

export const webhookSecretRoute = platformRoute({
  contract: {
    method: "post",
    path: "/v1/webhooks/secret",
    operationId: "createWebhookSecret",
    tag: "Account",
    summary: "Make the secret that signs one's own webhooks, or replace it.",
    requestHeaders: actHeaders,
    body,
    answer,
    conflict: "There is one, which can't be shown again.",
  },
  access: "token",
  async handle(call: RouteCall, needs: Needs): Promise<Response> {
    const wanted = await bodyOf(call, needs, body);
    const { user, userName = user } = call.principal;
    const act = { actor: actorOf(call, needs), reason: contextOf(call, wanted).reason };
    const { webhookSecrets: secrets } = needs;
    const making = wanted.rotate === true ? secrets.rotate(user, act) : secrets.make(user, act);
    const { secret, previousUntil } = await making.catch((thrown: unknown) => {
      throw refusalOf(thrown);
    });
    return Response.json({
      object: "webhook_secret",
      user: userName,
      user_id: user,
      secret,
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
  if (thrown.reason === "no-key")
    return new GatewayError("webhook_key_unset", "The operator has set no key for the secrets of webhooks.");
  return thrown;
}
