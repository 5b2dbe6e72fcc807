import { z } from "@hono/zod-openapi";
import { platformRoute } from "./shared.contract.ts";
import { parseMoment } from "./usage-period.ts";

const moment = z.string().transform((text, context) => {
  const parsed = parseMoment(text);
  if (parsed !== undefined) return parsed;
  context.addIssue("write a date (2026-11-21), a date-time (2026-11-21T08:00:00Z) or unix seconds");
  return z.NEVER;
});

const formats = "A date or date-time (ISO 8601, UTC without an offset) or unix seconds.";

export const usageQuery = z.object({
  from: moment.optional().describe(`${formats} Calls that began then or later; by default the 30 days up to \`to\`.`),
  to: moment.optional().describe(`${formats} Calls that began before; by default the end of this day.`),
  group_by: z.enum(["day", "model", "token"]).default("day"),
});

const count = z.number().int();

const sums = {
  requests: count.describe("Calls that were taken, failed ones included."),
  input_tokens: count,
  output_tokens: count,
  credits: z.number(),
};

const entry = { object: z.literal("usage"), ...sums };

export const usageAnswer = z
  .object({
    object: z.literal("list"),
    data: z
      .array(
        z.union([
          z.object({ day: z.iso.date().describe("UTC; the day in which the calls began."), ...entry }),
          z.object({ model: z.string().describe("Provider-prefixed model id."), ...entry }),
          z.object({ token_id: z.string(), ...entry }),
        ]),
      )
      .describe("Days from the oldest, models and tokens from the dearest; those without calls are left out."),
    total: z.object(sums),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    group_by: z.enum(["day", "model", "token"]),
  })
  .meta({ id: "Usage" });

export const usageContract = platformRoute({
  path: "/v1/usage",
  operationId: "getUsage",
  tag: "Account",
  summary: "What the caller's user has spent, by day, model or token.",
  query: usageQuery,
  answer: usageAnswer,
});
