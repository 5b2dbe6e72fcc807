import { z } from "@hono/zod-openapi";
import { GatewayError, limits } from "../../core/index.ts";
import { dimensionsIn, periodOf, reportSpending, spendingDimensions, spendingJson } from "../../spending/index.ts";
import { printableText, tagFilter, tagsAsked } from "../account/tag-query.ts";
import { moment, noReport, sums } from "../account/usage.ts";
import { detailFields, includedDetails } from "../account/usage-details.ts";
import { parseQuery } from "../parse-query.ts";
import { accountsOf, adminRoute } from "./admin-route.ts";
import { reference } from "./requests.ts";

const names = `${spendingDimensions.join("|")}|tag:[\\w.-]{1,64}`;
const list = new RegExp(`^(?:${names})(?:,(?:${names}))*$`);

const query = z.object({
  from: moment.optional().describe("As of `/v1/usage`: calls that began then or later."),
  to: moment.optional().describe("As of `/v1/usage`: calls that began before."),
  group_by: z
    .string()
    .regex(list)
    .default("day")
    .describe(
      "One or several of day, organisation, project, user, token, provider, model, operation, session, end_user and tag:KEY, separated by commas.",
    ),
  interval: z.enum(["day", "week", "month"]).default("day").describe("Of the groups by day. Weeks begin on Monday."),
  include: includedDetails,
  organisation: reference.optional(),
  user: reference.optional(),
  project: reference.optional(),
  token: reference.optional().describe("The id of a token."),
  provider: reference.optional().describe("The prefix of a provider."),
  model: printableText(256).optional().describe("The id of a model, with the prefix of its provider."),
  operation: reference.optional(),
  session: printableText(128).optional(),
  end_user: printableText(128).optional(),
  ...tagFilter,
});

const answer = z
  .object({
    object: z.literal("list"),
    data: z
      .array(
        z.looseObject({
          object: z.literal("usage"),
          day: z.iso.date().optional().describe("The first day of the interval, in the time zone of the deployment."),
          organisation: z.string().nullable().optional().describe("Null of calls for which none pays."),
          organisation_id: z.string().nullable().optional(),
          project: z.string().nullable().optional().describe("Null of users' calls."),
          project_id: z.string().nullable().optional(),
          user: z.string().nullable().optional().describe("Null of projects' calls."),
          user_id: z.string().nullable().optional(),
          token_id: z.string().optional(),
          provider: z.string().optional(),
          model: z.string().optional(),
          operation: z.string().optional().describe("`unknown` of calls that were removed before it was summed."),
          session: z.string().nullable().optional().describe("Null of calls without one."),
          end_user: z.string().nullable().optional().describe("Null of calls without one."),
          ...sums,
          ...detailFields,
        }),
      )
      .describe(
        "With the fields that `group_by` names; `tag:KEY` is null of calls without that tag. Days from the oldest, then from the most expensive group.",
      ),
    total: z.object({ ...sums, ...detailFields }),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    group_by: z.array(z.string()),
    interval: z.enum(["day", "week", "month"]),
  })
  .meta({ id: "AdminUsage" });

export const adminUsageRoute = adminRoute(
  {
    route: "get /admin/v1/usage",
    operationId: "getAdminUsage",
    summary: "The spending of organisations, users and tokens, by model and time.",
    query,
    answer,
  },
  async (call, needs) => {
    const {
      group_by: words,
      interval,
      include: details = [],
      from: begin,
      to: end,
      ...filter
    } = parseQuery(call.request, query);
    const groupBy = dimensionsIn(words, spendingDimensions) ?? [];
    const tags = tagsAsked(call.request);
    const { generations, clock } = needs;
    const { from, to } = periodOf({ from: begin, to: end }, clock(), generations.calendar);
    const deps = { ...accountsOf(call, needs), generations };
    const { signal } = call.request;
    const report = await reportSpending(deps, { ...filter, tags, from, to, groupBy, interval, details, signal });
    if (report === "too-many-groups") throw tooMany();
    if ("removedBefore" in report) throw noReport(report.removedBefore, { from, zone: generations.calendar.zone });
    return Response.json({
      object: "list",
      ...spendingJson(report, details),
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      group_by: groupBy,
      interval,
    } satisfies z.input<typeof answer>);
  },
);

function tooMany(): GatewayError {
  const message = `group_by: there are more than ${limits.usageGroupsMax} groups. Ask for fewer dimensions, or a shorter time.`;
  return new GatewayError("validation_failed", message, { param: "group_by" });
}
