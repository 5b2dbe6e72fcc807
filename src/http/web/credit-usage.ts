import { z } from "@hono/zod-openapi";
import { accountsForAll, budgetInfo, budgetsBeside } from "../../accounts/index.ts";
import { creditsNumber, type Nano } from "../../core/index.ts";
import { type HttpRoute, platformRoute, type RouteCall } from "../route.ts";
import type { Services } from "../services.ts";

const credits = z.number().nullable();

/**
 * The HTTP clients of Firecrawl's SDK for Python, which fails on a number that is not whole. Nothing else of such a request
 * names the SDK.
 */
export const READS_WHOLE_NUMBERS = /^python-(?:requests|httpx)\//;

/** The caller's budget in Firecrawl's words, for its SDKs; `/v1/user/info` has more. */
export const creditUsageRoute = platformRoute({
  contract: {
    path: "/v2/team/credit-usage",
    operationId: "getCreditUsage",
    tag: "Search",
    summary: "The caller's remaining credits.",
    answer: z
      .looseObject({
        success: z.literal(true),
        data: z.looseObject({
          remainingCredits: credits.describe(
            "Null where nothing limits; rounded down for Python's requests and httpx.",
          ),
          planCredits: credits.describe(
            "The budget of the running period, or the credits ever granted; rounded likewise.",
          ),
          billingPeriodStart: z.string().nullable(),
          billingPeriodEnd: z.string().nullable(),
        }),
      })
      .meta({ id: "CreditUsage" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: async (call, services: Needs) => Response.json({ success: true, data: await creditUsage(call, services) }),
});

/** Firecrawl's tokens of a credit of ours, which is a thousand of its own. */
const TOKENS_PER_CREDIT = 15_000;

/** The same in tokens, in which Firecrawl counts the work of models. */
export const tokenUsageRoute = platformRoute({
  contract: {
    path: "/v2/team/token-usage",
    operationId: "getTokenUsage",
    tag: "Search",
    summary: "The caller's remaining credits in Firecrawl's tokens.",
    answer: z
      .looseObject({
        success: z.literal(true),
        data: z.looseObject({
          remainingTokens: credits.describe(`${TOKENS_PER_CREDIT} for a credit; null where nothing limits.`),
          planTokens: credits,
          billingPeriodStart: z.string().nullable(),
          billingPeriodEnd: z.string().nullable(),
        }),
      })
      .meta({ id: "TokenUsage" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: async (call, services: Needs) => Response.json({ success: true, data: await tokenUsage(call, services) }),
});

async function tokenUsage(call: RouteCall, services: Needs) {
  const { remaining, plan } = await budgetOf(call, services);
  return { remainingTokens: tokens(remaining), planTokens: tokens(plan), ...NO_PERIOD };
}

function tokens(amount: Nano | undefined): number | null {
  return amount === undefined ? null : tokensOf(amount);
}

/** Credits in Firecrawl's tokens, rounded down. */
export function tokensOf(amount: Nano): number {
  return Math.floor(creditsNumber(amount) * TOKENS_PER_CREDIT);
}

const NO_PERIOD = { billingPeriodStart: null, billingPeriodEnd: null };

type Needs = Pick<Services, "accounts" | "admin" | "clock">;

/** `/v1/team/credit-usage` and `/v1/team/token-usage`, whose members have other spellings. */
export const usageV1Routes = [
  usageV1Route("/v1/team/credit-usage", async (call, services) => {
    const { remainingCredits, planCredits } = await creditUsage(call, services);
    return { remaining_credits: remainingCredits, plan_credits: planCredits };
  }),
  usageV1Route("/v1/team/token-usage", async (call, services) => {
    const { remainingTokens, planTokens } = await tokenUsage(call, services);
    return { remaining_tokens: remainingTokens, plan_tokens: planTokens };
  }),
];

function usageV1Route(
  path: string,
  amounts: (call: RouteCall, services: Needs) => Promise<object>,
): HttpRoute<Needs, "token"> {
  return {
    kind: "http",
    method: "get",
    path,
    surface: "firecrawl_v1",
    access: "token",
    handle: async (call, services) => {
      const data = { ...(await amounts(call, services)), billing_period_start: null, billing_period_end: null };
      return Response.json({ success: true, data });
    },
  };
}

async function creditUsage(call: RouteCall, services: Needs) {
  const { remaining, plan } = await budgetOf(call, services);
  const isWhole = READS_WHOLE_NUMBERS.test(call.request.headers.get("user-agent") ?? "");
  const shown = (amount: Nano | undefined): number | null =>
    amount === undefined ? null : isWhole ? Math.floor(creditsNumber(amount)) : creditsNumber(amount);
  return { remainingCredits: shown(remaining), planCredits: shown(plan), ...NO_PERIOD };
}

/** Undefined amounts for a caller whom nothing limits. */
async function budgetOf({ principal }: RouteCall, { accounts, admin, clock }: Needs) {
  const at = clock();
  const chain = await accounts.chain(principal.accountId, at);
  const beside = principal.service ? [] : await budgetsBeside(admin, chain);
  const { effective } = budgetInfo(chain, at, accounts.calendar, accountsForAll(beside));
  const { available, maxBudget } = (principal.service ? undefined : effective) ?? {};
  return { remaining: available, plan: maxBudget };
}
