import { z } from "@hono/zod-openapi";
import { budgetInfo } from "../../accounts/index.ts";
import { creditsNumber } from "../../core/index.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

const credits = z.number().nullable();

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
          remainingCredits: credits.describe("Null where nothing limits."),
          planCredits: credits.describe("The budget of the running period, or the credits ever granted."),
          billingPeriodStart: z.string().nullable(),
          billingPeriodEnd: z.string().nullable(),
        }),
      })
      .meta({ id: "CreditUsage" }),
  },
  surface: "firecrawl",
  access: "token",
  mount:
    ({ accounts, clock }: Pick<Services, "accounts" | "clock">) =>
    async ({ principal }) => {
      const at = clock();
      const { effective } = budgetInfo(await accounts.chain(principal.accountId, at), at, accounts.calendar);
      const budget = principal.service ? undefined : effective;
      const { available, maxBudget } = budget ?? {};
      return Response.json({
        success: true,
        data: {
          remainingCredits: available === undefined ? null : creditsNumber(available),
          planCredits: maxBudget === undefined ? null : creditsNumber(maxBudget),
          billingPeriodStart: null,
          billingPeriodEnd: null,
        },
      });
    },
});
