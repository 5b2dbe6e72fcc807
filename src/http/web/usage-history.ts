import { z } from "@hono/zod-openapi";
import { type Calendar, creditsNumber, GatewayError, limits, type Nano } from "../../core/index.ts";
import { noReport } from "../account/usage.ts";
import { parseQuery } from "../parse-query.ts";
import { type HttpRoute, platformRoute, type RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { READS_WHOLE_NUMBERS, tokensOf } from "./credit-usage.ts";

/** Months in a history, with the running one. */
const MONTHS = 12;

const query = z.object({
  byApiKey: z.enum(["true", "false"]).default("false").describe("Whether each month is divided by token."),
});

const period = {
  startDate: z.string(),
  endDate: z.string().describe("The last second of the month, in the time zone of the deployment."),
  apiKey: z.string().nullable().describe("The id of a token, with byApiKey."),
};

/** What the caller's user has spent, month by month, in Firecrawl's words; `/v1/usage` has more. */
export const creditHistoryRoute = platformRoute({
  contract: {
    path: "/v2/team/credit-usage/historical",
    operationId: "getCreditUsageHistory",
    tag: "Search",
    summary: "Credits that the caller's user has spent in the last twelve months.",
    query,
    answer: z
      .looseObject({
        success: z.literal(true),
        periods: z.array(
          z.looseObject({
            ...period,
            creditsUsed: z.number().describe("Rounded up for Python's requests and httpx, which read whole numbers."),
            totalCredits: z
              .number()
              .describe("The same: the SDKs read the one, Firecrawl's documentation has the other."),
          }),
        ),
      })
      .meta({ id: "CreditUsageHistory" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: creditHistory,
});

async function creditHistory(call: RouteCall, services: Needs): Promise<Response> {
  const isWhole = READS_WHOLE_NUMBERS.test(call.request.headers.get("user-agent") ?? "");
  const shown = (credits: Nano): number => (isWhole ? Math.ceil(creditsNumber(credits)) : creditsNumber(credits));
  const months = await monthsOf(call, services);
  const periods = months.map(({ credits, ...rest }) => {
    const used = shown(credits);
    return { ...rest, creditsUsed: used, totalCredits: used };
  });
  return Response.json({ success: true, periods });
}

/** The same in tokens, in which Firecrawl counts the work of models. */
export const tokenHistoryRoute = platformRoute({
  contract: {
    path: "/v2/team/token-usage/historical",
    operationId: "getTokenUsageHistory",
    tag: "Search",
    summary: "The spending of the last twelve months in Firecrawl's tokens.",
    query,
    answer: z
      .looseObject({
        success: z.literal(true),
        periods: z.array(z.looseObject({ ...period, tokensUsed: z.number().int(), totalTokens: z.number().int() })),
      })
      .meta({ id: "TokenUsageHistory" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: tokenHistory,
});

async function tokenHistory(call: RouteCall, services: Needs): Promise<Response> {
  const months = await monthsOf(call, services);
  const periods = months.map(({ credits, ...rest }) => {
    const used = tokensOf(credits);
    return { ...rest, tokensUsed: used, totalTokens: used };
  });
  return Response.json({ success: true, periods });
}

/** The same at v1. */
export const historyV1Routes = [
  ["/v1/team/credit-usage/historical", creditHistory] as const,
  ["/v1/team/token-usage/historical", tokenHistory] as const,
].map(([path, handle]): HttpRoute<Needs, "token"> => ({
  kind: "http",
  method: "get",
  path,
  surface: "firecrawl_v1",
  access: "token",
  handle,
}));

type Needs = Pick<Services, "generations" | "clock">;

interface Month {
  startDate: string;
  endDate: string;
  apiKey: string | null;
  credits: Nano;
}

/** The months in which the user has called, from the oldest. */
async function monthsOf({ request, principal }: RouteCall, { generations, clock }: Needs): Promise<Month[]> {
  const byToken = parseQuery(request, query).byApiKey === "true";
  const { calendar } = generations;
  const now = new Date(calendar.dayOf(clock()) * DAY_MS);
  const from = startOfMonth(calendar, now, 1 - MONTHS);
  const report = await generations.spending({
    owners: [principal.user],
    organisationOf: () => undefined,
    filter: {},
    from,
    to: startOfMonth(calendar, now, 1),
    groupBy: byToken ? ["day", "token"] : ["day"],
    interval: "month",
    groupsMax: limits.usageGroupsMax,
    signal: request.signal,
  });
  if (report === "too-many-groups") {
    throw new GatewayError("validation_failed", "byApiKey: there are too many tokens.", { param: "byApiKey" });
  }
  if ("removedBefore" in report) throw noReport(report.removedBefore, { from, zone: calendar.zone });
  return report.groups.map(({ values: { day = "", token = null }, credits }) => {
    const month = new Date(`${day.slice(0, "YYYY-MM".length)}-01T00:00:00Z`);
    const end = startOfMonth(calendar, month, 1) - 1_000;
    return {
      startDate: new Date(startOfMonth(calendar, month, 0)).toISOString(),
      endDate: new Date(end).toISOString(),
      apiKey: token,
      credits,
    };
  });
}

const DAY_MS = 86_400_000;

/** The first moment of the month that is so many months after the one of a date in UTC. */
function startOfMonth(calendar: Calendar, date: Date, after: number): number {
  return calendar.startOfDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + after, 1) / DAY_MS);
}
