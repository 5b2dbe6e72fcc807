import { z } from "@hono/zod-openapi";
import { GatewayError, limits } from "../../core/index.ts";
import {
  type GenerationStore,
  type SpendingQuery,
  type TagDimension,
  type UsageGroup,
  type UsageGrouping,
  type UsageQuery,
} from "../../generations/index.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";
import { callValuesJson, dimensionsIn, filterOf, parseMoment, periodOf, sumsJson } from "../../spending/index.ts";
import { detailFields, includedDetails } from "./usage-details.ts";
import { printableText, tagFilter, tagsAsked } from "./tag-query.ts";

/** A time in a query. */
export const moment = z
  .string()
  .transform((text, context) => {
    const parsed = parseMoment(text);
    if (parsed !== undefined) return parsed;
    context.addIssue("write a date (2026-11-21), a date-time (2026-11-21T08:00:00Z) or unix seconds");
    return z.NEVER;
  })
  .meta({
    type: "string",
    anyOf: [{ format: "date" }, { format: "date-time" }, { pattern: String.raw`^(0|\d{9,11})$` }],
  });

const formats =
  "A date (in the time zone of the deployment), a date-time (ISO 8601, UTC without an offset) or unix seconds.";

/** The dimensions of one's own calls. */
const dimensions = ["day", "token", "provider", "model", "operation", "session", "end_user"] as const;

const names = `${dimensions.join("|")}|tag:[\\w.-]{1,64}`;

/** Groupings by one dimension alone, whose groups have only its name. */
const simple: ReadonlySet<string> = new Set<UsageGrouping>(["day", "model", "token", "session"]);

const isSimple = (groupBy: string): groupBy is UsageGrouping => simple.has(groupBy);

const sessionName = z.string().min(1).max(128);

/** The dimensions that select calls. */
const usageFilter = {
  token: printableText(128).optional().describe("The id of a token."),
  provider: printableText(128).optional().describe("The prefix of a provider."),
  model: printableText(256).optional().describe("The id of a model, with the prefix of its provider."),
  operation: printableText(128).optional(),
  session: printableText(128).optional(),
  end_user: printableText(128).optional(),
  ...tagFilter,
};

const usageQuery = z.object({
  from: moment.optional().describe(`${formats} Calls that began then or later; by default the 30 days up to \`to\`.`),
  to: moment.optional().describe(`${formats} Calls that began before; by default the end of this day.`),
  group_by: z
    .string()
    .regex(new RegExp(`^(?:${names})(?:,(?:${names}))*$`), `write one or several of ${dimensions.join(", ")}, tag:KEY`)
    .default("day")
    .describe(
      "One or several of day, token, provider, model, operation, session, end_user and tag:KEY, separated by commas.",
    ),
  interval: z.enum(["day", "week", "month"]).default("day").describe("Of the groups by day. Weeks begin on Monday."),
  limit: z.coerce.number().int().min(1).max(1_000).optional().describe("Sessions in one answer; by default 100."),
  cursor: sessionName.optional().describe("Of sessions: the `next_cursor` of the page before."),
  include: includedDetails,
  ...usageFilter,
});

const count = z.number().int();

/** The fields of sums in the answers of all reports. */
export const sums = {
  requests: count.describe("Calls that were taken, failed ones included."),
  failures: count.describe("Calls that have failed, broken off or expired."),
  input_tokens: count,
  output_tokens: count,
  credits: z.number(),
  list_credits: z.number().describe("At list price, without markup; calls of versions that did not record it count 0."),
};

const entryFields = { object: z.literal("usage"), ...sums, ...detailFields };

export const usageAnswer = z
  .object({
    object: z.literal("list"),
    data: z
      .array(
        z.union([
          z.strictObject({
            day: z.iso.date().describe("The day in which the calls began, in the time zone of the deployment."),
            ...entryFields,
          }),
          z.strictObject({ model: z.string().describe("Provider-prefixed model id."), ...entryFields }),
          z.strictObject({ token_id: z.string(), ...entryFields }),
          z.strictObject({ session: sessionName.describe("As the requests' headers named it."), ...entryFields }),
          z
            .looseObject({
              day: z.iso.date().optional().describe("The first day of the interval."),
              token_id: z.string().optional(),
              provider: z.string().optional(),
              model: z.string().optional(),
              operation: z.string().optional(),
              session: z.string().nullable().optional(),
              end_user: z.string().nullable().optional(),
              ...entryFields,
            })
            .describe(
              "Of several dimensions, or of other ones: their fields. `tag:KEY` is null of calls without that tag.",
            ),
        ]),
      )
      .describe(
        "Days from the oldest, models and tokens from the dearest, sessions by name; those without calls are left out.",
      ),
    total: z
      .object({ ...sums, ...detailFields })
      .describe("Of all calls of the period, also of those without a session or on another page."),
    next_cursor: z
      .string()
      .optional()
      .describe("Of sessions: the `cursor` of the next page; absent on the last one, and of other groupings."),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    group_by: z.union([z.enum(dimensions), z.array(z.string())]),
  })
  .meta({ id: "Usage" });

type Answer = z.input<typeof usageAnswer>;

interface UsageServices extends Pick<Services, "generations" | "clock"> {
  groupsMax?: number;
}

/** The spending of the caller's user, over all of their tokens. */
export const usageRoute = platformRoute({
  contract: {
    path: "/v1/usage",
    operationId: "getUsage",
    tag: "Account",
    summary: "What the caller's user has spent, by day, model, token or session.",
    query: usageQuery,
    answer: usageAnswer,
  },
  access: "token",
  handle: async ({ request, principal }, { generations, clock, groupsMax = limits.usageGroupsMax }: UsageServices) => {
    const asking = parseQuery(request, usageQuery);
    const { group_by: groupBy, interval, limit, cursor, include, from: begin, to: end, ...named } = asking;
    const { from, to } = periodOf({ from: begin, to: end }, clock(), generations.calendar);
    const filter = filterOf(named, tagsAsked(request));
    if (!isSimple(groupBy) || interval !== "day" || include !== undefined || Object.keys(filter).length > 0) {
      if (limit !== undefined || cursor !== undefined) pageOf("day", { limit, cursor });
      const groups = dimensionsIn(groupBy, dimensions) ?? [];
      const asked = {
        from,
        to,
        filter,
        groupBy: groups,
        interval,
        details: include ?? [],
        groupsMax,
        signal: request.signal,
      };
      return Response.json(await spendingAnswer(generations, principal.user, asked));
    }
    const query = { owner: principal.user, from, to, groupBy, signal: request.signal };
    const page = pageOf(groupBy, { limit, cursor }) ?? { groupsMax };
    const report = await generations.usage({ ...query, ...page });
    if (report === "too-many-groups") throw tooMany(groupBy, groupsMax);
    if ("removedBefore" in report)
      throw removed(report.removedBefore, { groupBy, from, zone: generations.calendar.zone });
    const last = report.groups.at(-1)?.name;
    const answer: Answer = {
      object: "list",
      data: report.groups.map((group) => entryOf(groupBy, group)),
      total: sumsJson(report.total),
      ...(report.hasMore === true && last !== undefined && { next_cursor: last }),
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      group_by: groupBy,
    };
    return Response.json(answer);
  },
});

/** The sums of a user by several dimensions. */
async function spendingAnswer(
  generations: Pick<GenerationStore, "spending" | "calendar">,
  user: string,
  query: Pick<SpendingQuery, "from" | "to" | "filter" | "interval" | "groupsMax" | "details"> & {
    groupBy: readonly ((typeof dimensions)[number] | TagDimension)[];
    signal: AbortSignal;
  },
): Promise<Answer> {
  const { from, to, groupBy, groupsMax, details } = query;
  const report = await generations.spending({ ...query, owners: [user], organisationOf: () => undefined });
  if (report === "too-many-groups") throw tooMany(groupBy.join(","), groupsMax);
  if ("removedBefore" in report) throw noReport(report.removedBefore, { from, zone: generations.calendar.zone });
  return {
    object: "list",
    data: report.groups.map(({ values, ...group }) => ({
      object: "usage",
      ...("day" in values && { day: values.day ?? "" }),
      ...callValuesJson(values),
      ...sumsJson(group, details),
    })),
    total: sumsJson(report.total, details),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    group_by: [...groupBy],
  };
}

/** The part of the sessions that is asked for; undefined for other groupings, which have no pages. */
function pageOf(
  groupBy: UsageGrouping,
  { limit, cursor }: { limit: number | undefined; cursor: string | undefined },
): Pick<UsageQuery, "groupsMax" | "after"> | undefined {
  if (groupBy === "session") return { groupsMax: limit ?? 100, ...(cursor !== undefined && { after: cursor }) };
  const param = limit === undefined ? "cursor" : "limit";
  if (limit === undefined && cursor === undefined) return undefined;
  throw new GatewayError(
    "validation_failed",
    `${param}: only sessions have pages (group_by=session, without a filter).`,
    { param },
  );
}

function entryOf(groupBy: UsageGrouping, group: UsageGroup): Answer["data"][number] {
  const entry = { object: "usage" as const, ...sumsJson(group) };
  if (groupBy === "day") return { ...entry, day: group.name };
  if (groupBy === "session") return { ...entry, session: group.name };
  return groupBy === "model" ? { ...entry, model: group.name } : { ...entry, token_id: group.name };
}

function removed(
  removedBefore: number,
  { groupBy, from, zone }: { groupBy: UsageGrouping; from: number; zone: string },
): GatewayError {
  if (groupBy !== "session") return noReport(removedBefore, { from, zone });
  const before = new Date(removedBefore).toISOString();
  const message = `from: calls before ${before} have been removed, and their sessions with them. Ask for a later time.`;
  return new GatewayError("validation_failed", message, { param: "from" });
}

/** Of removed calls the sums of their days are left, and nothing about parts of those days. */
export function noReport(removedBefore: number, { from, zone }: { from: number; zone: string }): GatewayError {
  const before = new Date(removedBefore).toISOString();
  // `from` is at the beginning of a day, or the part of a day that it begins is the one in question.
  const param = from < removedBefore ? "from" : "to";
  return new GatewayError(
    "validation_failed",
    `${param}: calls before ${before} have been removed; only whole days of them can be reported. ` +
      `Write dates: they are days in ${zone}.`,
    { param },
  );
}

function tooMany(groupBy: string, groupsMax: number): GatewayError {
  return new GatewayError(
    "validation_failed",
    `group_by: there are more than ${groupsMax} groups by ${groupBy}. Ask for a shorter time.`,
    { param: "group_by" },
  );
}
