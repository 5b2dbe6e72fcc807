import { z } from "@hono/zod-openapi";
import {
  budgetInfo,
  budgetJson,
  accountsForAll,
  budgetsBeside,
  type BudgetState,
  creditsOrNull,
  type LevelBudget,
  levelBudget,
  levelJson,
  timeOrNull,
} from "../../accounts/index.ts";
import { type Principal, projectOf } from "../../auth/index.ts";
import { creditsNumber, type RateLimits } from "../../core/index.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

const amount = z.number().describe("Credits.");

const budget = {
  max_budget: amount
    .nullable()
    .describe("The budget of the running period, or the credits ever granted; null where nothing limits."),
  spend: amount.describe("What has been spent of it."),
  held: amount.describe("Set aside for calls under way."),
  available: amount.nullable().describe("What a call could cost at most; null where nothing limits."),
  period: z.enum(["daily", "weekly", "monthly", "quarterly"]).nullable(),
  period_reset_at: z.iso.datetime().nullable(),
};

const levelAnswer = z.object({
  level: z.enum(["token", "user", "project", "organisation", "budget"]),
  name: z.string(),
  balance: amount.nullable().describe("Prepaid credits left; null where the level holds none of its own."),
  ...budget,
});

const budgetBeside = z.object({
  id: z.string(),
  level: z.enum(["token", "user", "project", "organisation"]),
  name: z.string().describe("Whose it is."),
  models: z
    .object({ group: z.string(), globs: z.array(z.string()) })
    .nullable()
    .describe("Whose calls count in it; null for those of all models."),
  ...budget,
});

const limits = z
  .object({
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    concurrent_calls: z.int().nullable(),
    models: z.array(z.string()).nullable().describe("Globs of the model ids that the token may use."),
    models_within: z
      .array(z.array(z.string()))
      .describe("Further lists, of the levels above: a model has to match each of them as well."),
    tools: z.array(z.string()).nullable().describe("Globs of the tools that it may call; those with ! it may not."),
    tools_within: z.array(z.array(z.string())).describe("Further lists, which have to permit a tool as well."),
    expires_at: z.iso.datetime().nullable(),
  })
  .describe("What the token may do by its own limits, its user's and their organisation's; null where nothing limits.");

const identityFields = {
  object: z.literal("user.info"),
  user: z.string().describe("The name of the token's user, or of its project."),
  user_id: z.string().describe("The owner of what calls make: a user's id, or a project's after `project:`."),
  project: z.string().nullable().describe("The id of the project that the token belongs to; null for a user's."),
  token_id: z.string(),
  limits,
};

const userInfoAnswer = z
  .union([
    z.object({
      ...identityFields,
      service_bypass: z.literal(false),
      balance: amount.nullable(),
      ...budget,
      levels: z.array(levelAnswer),
      budgets: z.array(budgetBeside).describe("Further budgets that calls count in, of all levels."),
    }),
    z.object({ ...identityFields, service_bypass: z.literal(true), spend: amount, held: amount }),
  ])
  .meta({ id: "UserInfo" });

/** The caller's available credits. A service caller gets the bypass marker and no balance. */
export const userInfoRoute = platformRoute({
  contract: {
    path: "/v1/user/info",
    operationId: "getUserInfo",
    tag: "Account",
    summary: "Budget and spend summary.",
    answer: userInfoAnswer,
  },
  access: "token",
  handle: async ({ principal }, { accounts, admin, clock }: Pick<Services, "accounts" | "admin" | "clock">) => {
    const at = clock();
    const chain = await accounts.chain(principal.accountId, at);
    const beside = principal.service ? [] : await budgetsBeside(admin, chain);
    const { effective, levels } = budgetInfo(chain, at, accounts.calendar, accountsForAll(beside));
    const identity = {
      object: "user.info" as const,
      user: principal.userName ?? principal.user,
      user_id: principal.user,
      project: projectOf(principal.user) ?? null,
      token_id: principal.tokenId,
      limits: limitsOf(principal),
    };
    const answer: z.input<typeof userInfoAnswer> = principal.service
      ? {
          ...identity,
          service_bypass: true,
          spend: creditsNumber(levels[0]?.spend ?? 0n),
          held: creditsNumber(levels[0]?.held ?? 0n),
        }
      : {
          ...identity,
          service_bypass: false,
          balance: creditsOrNull(levels.findLast((level) => level.balance !== undefined)?.balance),
          ...budgetJson(effective),
          levels: levels.map(levelJson),
          budgets: beside.map((each) => besideJson(each, levelBudget(each.account, at, accounts.calendar))),
        };
    return Response.json(answer);
  },
});

function besideJson({ budget: { id, ownerKind }, owner, group }: BudgetState, level: LevelBudget) {
  const models = group === undefined ? null : { group: group.name, globs: [...group.models] };
  return { id, level: ownerKind, name: owner.name, models, ...budgetJson(level) };
}

function limitsOf({ rates, ratesAbove = [], models, modelsAbove = [], tools, toolsAbove = [], expiresAt }: Principal) {
  const least = (unit: keyof RateLimits): number | null => {
    const named = [rates ?? {}, ...ratesAbove].flatMap((level) => level[unit] ?? []);
    return named.length === 0 ? null : Math.min(...named);
  };
  return {
    requests_per_minute: least("requestsPerMinute"),
    tokens_per_minute: least("tokensPerMinute"),
    concurrent_calls: least("concurrentCalls"),
    models: models === undefined ? null : [...models],
    models_within: modelsAbove.map((globs) => [...globs]),
    tools: tools === undefined ? null : [...tools],
    tools_within: toolsAbove.map((globs) => [...globs]),
    expires_at: timeOrNull(expiresAt),
  };
}
