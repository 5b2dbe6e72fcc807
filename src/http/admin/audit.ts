import { z } from "@hono/zod-openapi";
import { auditJson } from "../../accounts/index.ts";
import { parseQuery } from "../parse-query.ts";
import { adminRoute, listOf, listSchema, pageQuery } from "./admin-route.ts";

const values = z.record(z.string(), z.unknown()).nullable();

const auditAnswer = z
  .object({
    object: z.literal("audit"),
    number: z.int().describe("Counted from 1, without gaps."),
    at: z.iso.datetime(),
    actor: z.string().describe("`cli:NAME`, `token:ID`, `node:HOST:PID`."),
    act: z.string(),
    target: z.string(),
    address: z.string().nullable().describe("The network address that the request came from."),
    request_id: z.string().nullable(),
    reason: z.string().nullable(),
    before: values.describe("Before; null of a new thing."),
    after: values.describe("After; null of a deleted thing."),
    hash: z.string().describe("SHA-256 of the row and of the hash before it."),
  })
  .meta({ id: "AuditRow" });

const query = pageQuery.extend({
  after: z.coerce
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe("The number of the last row of the page before."),
});

const listRoute = adminRoute(
  {
    route: "get /admin/v1/audit",
    operationId: "listAuditRows",
    summary: "Everything that was changed, the newest first.",
    query,
    answer: listSchema(auditAnswer),
  },
  async ({ request }, { admin }) => {
    const { limit, after: before } = parseQuery(request, query);
    return Response.json(listOf(await admin.log.list({ limit: limit + 1, before }), limit, auditJson));
  },
);

const verification = z
  .object({
    object: z.literal("audit_verification"),
    rows: z.int().describe("Those in order, from the oldest on."),
    ok: z.boolean(),
    fault: z.string().nullable().describe("The first row that was changed, removed or cut off."),
  })
  .meta({ id: "AuditVerification" });

const verifyRoute = adminRoute(
  {
    route: "get /admin/v1/audit/verify",
    operationId: "verifyAudit",
    summary: "Whether no row of the log was changed, removed or cut off: reads it all.",
    answer: verification,
  },
  async (_, { admin }) => {
    const { rows, fault = null } = await admin.log.verify();
    return Response.json({ object: "audit_verification", rows, ok: fault === null, fault });
  },
);

export const auditRoutes = [listRoute, verifyRoute];
