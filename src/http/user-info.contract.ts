import { z } from "@hono/zod-openapi";
import { platformRoute } from "./shared.contract.ts";

const amount = z.number().describe("Credits.");

const budget = {
  max_budget: amount
    .nullable()
    .describe("The budget of the running period, or the credits ever granted; null where nothing limits."),
  spend: amount.describe("What has been spent of it."),
  held: amount.describe("Set aside for calls under way."),
  available: amount.nullable().describe("What a call could cost at most; null where nothing limits."),
  period: z.enum(["daily", "monthly"]).nullable(),
  period_reset_at: z.iso.datetime().nullable(),
};

const level = z.object({
  level: z.enum(["token", "user", "organisation"]),
  name: z.string(),
  balance: amount.nullable().describe("Prepaid credits left; null where the level holds none of its own."),
  ...budget,
});

const limits = z
  .object({
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    concurrent_calls: z.int().nullable(),
    models: z.array(z.string()).nullable().describe("Globs of the model ids that the token may use."),
    expires_at: z.iso.datetime().nullable(),
  })
  .describe("What the token may do; null where nothing limits.");

const identity = { object: z.literal("user.info"), user: z.string(), token_id: z.string(), limits };

export const userInfoAnswer = z
  .union([
    z.object({
      ...identity,
      service_bypass: z.literal(false),
      balance: amount.nullable(),
      ...budget,
      levels: z.array(level),
    }),
    z.object({ ...identity, service_bypass: z.literal(true), spend: amount, held: amount }),
  ])
  .meta({ id: "UserInfo" });

export const userInfoContract = platformRoute({
  path: "/v1/user/info",
  operationId: "getUserInfo",
  tag: "Account",
  summary: "Budget and spend summary.",
  answer: userInfoAnswer,
});
