/** The console's pages as an owner has them: what each asks the API for when it is opened, and again while it stays open. */

export interface ConsolePage {
  title: string;
  /** Paths of the API with their queries, all asked at once. */
  asks: readonly string[];
  /** Asked again while the page is open. */
  again?: { everyMs: number; asks: readonly string[] };
}

const DAY_MS = 86_400_000;

const dateOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

/** So many days until today, or the days before these. */
function days(count: number, now: number, isBefore = false): string {
  const end = now + DAY_MS - (isBefore ? count * DAY_MS : 0);
  return `from=${dateOf(end - count * DAY_MS)}&to=${dateOf(end)}`;
}

/** The twelve months until this one, or the twelve before. */
function year(now: number, isBefore = false): string {
  const [of, month] = [new Date(now).getUTCFullYear() - (isBefore ? 1 : 0), new Date(now).getUTCMonth()];
  return `from=${dateOf(Date.UTC(of, month - 11))}&to=${dateOf(Date.UTC(of, month + 1))}`;
}

interface SpendWords {
  group: string;
  subgroup?: string;
  interval: "day" | "month";
  period: string;
  before: string;
}

/** The sums by group, those of the period before, and those of the bars. */
function spend({ group, subgroup, interval, period, before }: SpendWords): string[] {
  const groups = subgroup === undefined ? group : `${group},${subgroup}`;
  return [
    `/admin/v1/usage?${period}&group_by=${groups}`,
    `/admin/v1/usage?${before}&group_by=${groups}`,
    `/admin/v1/usage?${period}&group_by=day,${group}&interval=${interval}`,
    "/admin/v1/organisations?limit=500",
  ];
}

const list = (...names: string[]): string[] => names.map((name) => `/admin/v1/${name}?limit=100`);

/** The user whose calls Requests is filtered by, and one of their calls. */
export interface ShownCall {
  user: string;
  id: string;
  token_id: string;
}

/** All pages, with Spend of a year beside that of thirty days. `console/src/pages` has the same paths. */
export function consolePages({ user, id, token_id: token }: ShownCall, now = Date.now()): ConsolePage[] {
  const [month, monthBefore] = [days(30, now), days(30, now, true)];
  const ofYear = { interval: "month", period: year(now), before: year(now, true) } as const;
  const attention = ["/admin/v1/alerts?limit=50", "/admin/v1/providers?limit=100"];
  const jobs = list("jobs", "crawls", "realtime_sessions");
  const nodes = [...list("nodes"), "/admin/v1/nodes?limit=1"];
  return [
    {
      title: "Overview",
      asks: [
        `/admin/v1/usage?${month}&group_by=day`,
        `/admin/v1/usage?${monthBefore}&group_by=day`,
        `/admin/v1/usage?${month}&group_by=model`,
        `/admin/v1/usage?${days(7, now)}&group_by=organisation`,
        "/admin/v1/generations?limit=100&status=ok",
        ...list("organisations"),
        ...attention,
      ],
      again: { everyMs: 30_000, asks: attention },
    },
    { title: "Spend", asks: spend({ group: "model", interval: "day", period: month, before: monthBefore }) },
    { title: "Spend of a year, by model", asks: spend({ group: "model", ...ofYear }) },
    { title: "Spend of a year, by user and model", asks: spend({ group: "user", subgroup: "model", ...ofYear }) },
    { title: "Requests", asks: list("generations") },
    { title: "Requests of a user", asks: [`/admin/v1/generations?user=${user}&limit=100`] },
    { title: "Requests that failed", asks: ["/admin/v1/generations?status=failed&limit=100"] },
    {
      title: "One request",
      asks: [`/admin/v1/generations/${id}`, `/admin/v1/entries?token=${token}&kind=settle&limit=100`],
    },
    { title: "Accounts", asks: list("tokens", "users", "projects", "organisations", "budgets") },
    {
      title: "Credits",
      asks: list("organisations", "users", "entries", "holds"),
      again: { everyMs: 10_000, asks: list("holds") },
    },
    {
      title: "Providers",
      asks: [...list("providers"), `/admin/v1/usage?group_by=provider&from=${new Date(now - DAY_MS).toISOString()}`],
      again: { everyMs: 15_000, asks: list("providers") },
    },
    { title: "Models", asks: ["/v1/models", ...list("prices", "prices/unpriced")] },
    { title: "Routes", asks: list("routes") },
    { title: "Jobs", asks: jobs, again: { everyMs: 10_000, asks: jobs } },
    { title: "Alerts", asks: list("alerts"), again: { everyMs: 15_000, asks: list("alerts") } },
    { title: "Audit", asks: list("audit") },
    { title: "Nodes", asks: nodes, again: { everyMs: 10_000, asks: nodes } },
    { title: "Config", asks: ["/admin/v1/config"] },
  ];
}
