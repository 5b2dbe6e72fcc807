import { z } from "@hono/zod-openapi";
import { postCredits } from "../../accounts/index.ts";
import { GatewayError, limits } from "../../core/index.ts";
import { accountsOf, adminRoute } from "./admin-route.ts";
import { requireFreshSignIn } from "./fresh-sign-in.ts";
import { actHeaders, actQuery, amount, bodyOf, contextOf, nanoOf, ownerIn, reason, reference } from "./requests.ts";

const body = z
  .strictObject({
    organisation: reference.optional(),
    user: reference.optional(),
    project: reference.optional(),
    amount: amount
      .refine((credits) => nanoOf(credits) !== 0n, "must not be zero")
      .describe("Below zero it takes credits back."),
    reason,
  })
  .meta({ id: "AdminCreditsRequest" });

const answer = z
  .object({
    object: z.literal("credits"),
    entry: z.string().describe("The id of the entry in the books."),
    organisation: z.string().nullable(),
    user: z.string().nullable(),
    project: z.string().nullable(),
    amount,
    reason: z.string(),
  })
  .meta({ id: "AdminCredits" });

const headers = actHeaders.extend({
  "idempotency-key": z
    .string()
    .min(1)
    .max(limits.retryKeyCharactersMax)
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/)
    .optional()
    .describe("The same key and body give the same answer, and count once; another body is 409."),
});

/** The key of a repeatable request. Throws a 422 `GatewayError` if it is none. */
function retryKeyOf({ headers: given }: Request): string | undefined {
  const key = headers.shape["idempotency-key"].safeParse(given.get("idempotency-key") ?? undefined);
  if (key.success) return key.data;
  throw new GatewayError("validation_failed", "idempotency-key: printable ASCII, at most 255 characters", {
    param: "idempotency-key",
  });
}

export const creditsRoute = adminRoute(
  {
    route: "post /admin/v1/credits",
    operationId: "grantCredits",
    summary: "Add credits to a balance, or take back what is neither spent nor held.",
    query: actQuery,
    requestHeaders: headers,
    body,
    answer,
    notFound: "There is no such organisation, user or project.",
    conflict: "There are not as many credits to take, or the key belongs to another body.",
  },
  async (call, needs) => {
    const wanted = await bodyOf(call, needs, body);
    const { reason: why, dryRun } = contextOf(call, wanted);
    requireFreshSignIn(call, needs, { act: "post /admin/v1/credits", dryRun });
    const { organisation, user, project } = wanted;
    const owner = ownerIn({ organisation, user, project });
    if (owner === undefined)
      throw new GatewayError("validation_failed", "organisation: name one, or a user, or a project", {
        param: "organisation",
      });
    if (why === undefined) throw new GatewayError("validation_failed", "reason: say why", { param: "reason" });
    const key = retryKeyOf(call.request);
    const granted = await postCredits(accountsOf(call, needs), owner, nanoOf(wanted.amount), {
      reason: why,
      ...(key !== undefined && { key }),
      createsHolder: false,
      dryRun,
    });
    const { kind, name } = granted.holder;
    return Response.json({
      object: "credits",
      entry: granted.entry,
      organisation: kind === "organisation" ? name : null,
      user: kind === "user" ? name : null,
      project: kind === "project" ? name : null,
      amount: wanted.amount,
      reason: why,
    });
  },
);
