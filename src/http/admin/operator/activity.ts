/** The work and the processes of all nodes. */
import { z } from "@hono/zod-openapi";
import type { AlertStore } from "../../../alerts/index.ts";
import { creditsNumber } from "../../../core/index.ts";
import type { ListedJob } from "../../../jobs/index.ts";
import { differenceIn, THERE_MS_MAX } from "../../../nodes/index.ts";
import type { ListedCrawl } from "../../../web/index.ts";
import { parseQuery } from "../../parse-query.ts";
import { adminRoute, listOf, listSchema, pageOf, pageQuery } from "../admin-route.ts";
import { ownerFields, ownerJson } from "../place.ts";
import type { OperatorNeeds } from "./operator-needs.ts";

const moment = z.iso.datetime();
const isoOf = (at: number): string => new Date(at).toISOString();
const isoOrNull = (at: number | undefined): string | null => (at === undefined ? null : isoOf(at));

const job = z
  .object({
    object: z.literal("job"),
    id: z.string(),
    kind: z.string(),
    ...ownerFields,
    run_at: moment.describe("It does not run before."),
    attempts: z.int().describe("Runs since the last one that succeeded."),
    node: z.string().nullable().describe("Where it runs; null while it waits."),
    leased_until: moment.nullable(),
    created_at: moment,
  })
  .meta({ id: "AdminJob" });

function jobJson({ id, kind, owner, runAt, attempts, lease, createdAt }: ListedJob): z.input<typeof job> {
  return {
    object: "job",
    id,
    kind,
    ...ownerJson(owner),
    run_at: isoOf(runAt),
    attempts,
    node: lease?.node ?? null,
    leased_until: isoOrNull(lease?.until),
    created_at: isoOf(createdAt),
  };
}

const jobQuery = pageQuery.extend({ kind: z.string().min(1).max(64).optional() });

export const jobsRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/jobs",
    operationId: "listJobs",
    summary: "Durable jobs of all users, by id: those that wait, and those that run.",
    query: jobQuery,
    answer: listSchema(job),
  },
  async ({ request }, { jobs }) => {
    const page = parseQuery(request, jobQuery);
    return Response.json(listOf(await jobs.list({ ...page, limit: page.limit + 1 }), page.limit, jobJson));
  },
);

const crawl = z
  .object({
    object: z.literal("crawl"),
    id: z.string(),
    kind: z.enum(["crawl", "batch", "extract"]),
    ...ownerFields,
    state: z.enum(["scraping", "completed", "failed", "cancelled"]),
    discovered: z.int().describe("Addresses."),
    completed: z.int(),
    failed: z.int(),
    skipped: z.int(),
    credits: z.number(),
    bytes: z.int().describe("Of its stored results."),
    created_at: moment,
    ended_at: moment.nullable(),
    expires_at: moment,
  })
  .meta({ id: "AdminCrawl" });

function crawlJson({ owner, createdAt, endedAt, expiresAt, credits, ...rest }: ListedCrawl): z.input<typeof crawl> {
  return {
    object: "crawl",
    ...rest,
    ...ownerJson(owner),
    credits: creditsNumber(credits),
    created_at: isoOf(createdAt),
    ended_at: isoOrNull(endedAt),
    expires_at: isoOf(expiresAt),
  };
}

export const crawlsRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/crawls",
    operationId: "listCrawls",
    summary: "Crawls and batches of all users, by id, without their addresses.",
    query: pageQuery,
    answer: listSchema(crawl),
  },
  async ({ request }, { crawls }) => {
    const { limit, after } = parseQuery(request, pageQuery);
    return Response.json(listOf(await crawls.list({ limit: limit + 1, after }), limit, crawlJson));
  },
);

type ListedAlert = Awaited<ReturnType<AlertStore["active"]>>[number];

const alert = z
  .object({
    object: z.literal("alert"),
    id: z.string(),
    rule: z.string(),
    state: z.enum(["pending", "open"]),
    account: z.string().nullable().describe("An account, a model, a provider, a target, a key or a node."),
    period: z.string().nullable().describe("The first day of a budget's period."),
    threshold: z.number().nullable(),
    value: z.union([z.number(), z.string()]),
    node: z.string().describe("The process that noted it."),
    since: moment,
    opened_at: moment.nullable(),
    gone_at: moment.nullable().describe("Since when its condition is gone."),
  })
  .meta({ id: "AdminAlert" });

function alertJson({
  openedAt,
  goneAt,
  since,
  account,
  period,
  threshold,
  ...rest
}: ListedAlert): z.input<typeof alert> {
  const { id, rule, value, node } = rest;
  return {
    object: "alert",
    id,
    rule,
    state: openedAt === undefined ? "pending" : "open",
    account: account ?? null,
    period: period ?? null,
    threshold: threshold ?? null,
    value,
    node,
    since: isoOf(since),
    opened_at: isoOrNull(openedAt),
    gone_at: isoOrNull(goneAt),
  };
}

/** Rules about money, which operators have none of. */
const moneyRules: ReadonlySet<string> = new Set(["budget", "balance", "shortfall"]);

export const alertsRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/alerts",
    operationId: "listAlerts",
    summary: "Alerts that are open or pending, by id; those of money not for operators.",
    query: pageQuery,
    answer: listSchema(alert),
  },
  async ({ request, principal }, { alerts }) => {
    const active = await alerts.active();
    const visible = principal.role === "operator" ? active.filter(({ rule }) => !moneyRules.has(rule)) : active;
    const page = parseQuery(request, pageQuery);
    return Response.json(pageOf(visible, page, { idOf: ({ id }) => id, show: alertJson }));
  },
);

const node = z
  .object({
    object: z.literal("node"),
    id: z.string().describe("Its host and process."),
    host: z.string(),
    pid: z.int(),
    version: z.string(),
    started_at: moment,
    seen_at: moment,
    fingerprint: z.record(z.string(), z.string()).describe("Hashes of the settings that all nodes should have alike."),
  })
  .meta({ id: "AdminNode" });

const nodesAnswer = listSchema(node).extend({
  differences: z
    .array(z.string())
    .describe("The settings that nodes have not alike, unless they have just begun to differ."),
});

export const nodesRoute = adminRoute<OperatorNeeds>(
  {
    route: "get /admin/v1/nodes",
    operationId: "listNodes",
    summary: "The gateways of the storage that are there, by name.",
    query: pageQuery,
    answer: nodesAnswer,
  },
  async ({ request }, { nodes, clock }) => {
    const now = clock();
    const there = await nodes.seenSince(now - THERE_MS_MAX);
    const show = ({ name, host, pid, version, startedAt, seenAt, fingerprint }: (typeof there)[number]) => ({
      object: "node" as const,
      id: name,
      host,
      pid,
      version,
      started_at: isoOf(startedAt),
      seen_at: isoOf(seenAt),
      fingerprint,
    });
    const page = pageOf(there, parseQuery(request, pageQuery), { idOf: ({ name }) => name, show });
    return Response.json({ ...page, differences: [...(differenceIn(there, now)?.parts ?? [])] });
  },
);
