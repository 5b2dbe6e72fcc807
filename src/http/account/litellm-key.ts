/** The caller's own key in the form of LiteLLM, for its clients. */
import { z } from "@hono/zod-openapi";
import { budgetInfo, budgetJson, accountsForAll, budgetsBeside, timeOrNull } from "../../accounts/index.ts";
import { projectOf } from "../../auth/index.ts";
import { GatewayError } from "../../core/index.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

const query = z.object({ key: z.string().optional() });

const answer = z.object({ key: z.string(), info: z.record(z.string(), z.unknown()) });

const credentials = ["authorization", "x-api-key", "api-key", "x-litellm-api-key"] as const;

/** Whether the request asks for the key that it presents: by its text, its hash or its token's id. Others are none of the caller's. */
function isOwn(key: string, tokenId: string, { headers }: Request): boolean {
  const presented = credentials.flatMap(
    (name) =>
      headers
        .get(name)
        ?.replace(/^Bearer\s+/i, "")
        .trim() ?? [],
  );
  return key === tokenId || presented.some((text) => key === text || key === Bun.SHA256.hash(text, "hex"));
}

const route = platformRoute({
  contract: {
    path: "/key/info",
    operationId: "getLitellmKeyInfo",
    tag: "Account",
    summary: "The caller's key in the form of LiteLLM.",
    query,
    answer,
  },
  access: "token",
  handle: async (
    { request, principal },
    { accounts, admin, clock }: Pick<Services, "accounts" | "admin" | "clock">,
  ): Promise<Response> => {
    const { tokenId, user, service, models = [], rates, expiresAt, organisation = null } = principal;
    const { key = tokenId } = parseQuery(request, query);
    if (!isOwn(key, tokenId, request))
      throw new GatewayError("account_not_found", "Only the key that a request presents can be asked for.");
    const at = clock();
    const chain = await accounts.chain(principal.accountId, at);
    const beside = service ? [] : await budgetsBeside(admin, chain);
    const { effective } = budgetInfo(chain, at, accounts.calendar, accountsForAll(beside));
    const { max_budget, spend, period, period_reset_at } = budgetJson(effective);
    const project = projectOf(user) ?? null;
    const info = {
      token: tokenId,
      spend,
      max_budget,
      budget_duration: period,
      budget_reset_at: period_reset_at,
      models: [...models],
      user_id: project === null ? user : null,
      team_id: project,
      organization_id: organisation,
      rpm_limit: rates?.requestsPerMinute ?? null,
      tpm_limit: rates?.tokensPerMinute ?? null,
      max_parallel_requests: rates?.concurrentCalls ?? null,
      expires: timeOrNull(expiresAt),
      blocked: false,
    };
    return Response.json({ key: tokenId, info } satisfies z.input<typeof answer>);
  },
});

const { contract: _, ...undocumented } = route;

/** The document describes `/v1/user/info` instead. */
export const litellmKeyRoute = undocumented;
