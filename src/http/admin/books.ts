/** What the books contain: entries and open holds. */
import { z } from "@hono/zod-openapi";
import { listEntries, listHolds } from "../../accounts/index.ts";
import { entryKinds } from "../../ledger/index.ts";
import { parseQuery } from "../parse-query.ts";
import { accountsOf, adminRoute, listOf, listSchema, pageQuery } from "./admin-route.ts";
import { ownerIn, reference } from "./requests.ts";

const money = z.number().describe("Credits.");

const place = {
  organisation: z.string().nullable(),
  organisation_id: z.string().nullable(),
  user: z.string().nullable(),
  user_id: z.string().nullable(),
  project: z.string().nullable(),
  project_id: z.string().nullable(),
  token: z.string().nullable().describe("The id of a token."),
};

const entry = z
  .object({
    object: z.literal("entry"),
    id: z.string().describe("Of a call its request's id; `:late` and `:refund` after it correct it."),
    kind: z.enum(entryKinds),
    ...place,
    debit_account: z.string(),
    credit_account: z.string().describe("`bank` and `revenue` are the other sides of grants and of charges."),
    amount: money,
    held: money,
    shortfall: money.describe("What no account of the chain could cover."),
    budgets: z.array(z.string()).describe("The ids of the budgets that it counts in too."),
    actor: z.string().nullable().describe("Null for callers who do not see all organisations, as `reason`."),
    reason: z.string().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "AdminEntry" });

const hold = z
  .object({
    object: z.literal("hold"),
    id: z.string().describe("Of its call."),
    ...place,
    account: z.string(),
    amount: money,
    observed: money.nullable().describe("The cost so far, as its process has told it last."),
    operation: z.string(),
    model: z.string(),
    keeper: z.enum(["process", "job"]),
    parent_id: z.string().nullable().describe("The session or crawl that it is a part of."),
    budgets: z.array(z.string()).describe("The ids of the budgets that it counts in too."),
    created_at: z.iso.datetime(),
    lease_until: z.iso.datetime(),
  })
  .meta({ id: "AdminHold" });

const owners = {
  organisation: reference.optional().describe("What is below it, by id or name."),
  user: reference.optional(),
  project: reference.optional(),
  token: reference.optional().describe("The id of a token."),
};
const entryQuery = pageQuery.extend({ ...owners, kind: z.enum(entryKinds).optional() });
const holdQuery = pageQuery.extend(owners);
const notFound = "There is no such owner in the caller's reach.";

const entriesAnswer = listSchema(entry).extend({
  scanned_from: z
    .string()
    .nullable()
    .describe(
      "The `after` of the next page; null at the end. A page reads a bounded number of entries, and may have fewer that fit than its limit.",
    ),
});

export const bookRoutes = [
  adminRoute(
    {
      route: "get /admin/v1/entries",
      operationId: "listEntries",
      summary: "Entries of the books, the latest first.",
      query: entryQuery,
      answer: entriesAnswer,
      notFound,
    },
    async (call, needs) => {
      const { limit, after, kind, ...named } = parseQuery(call.request, entryQuery);
      const page = { limit, after, kind, owner: ownerIn(named) };
      const { entries, scannedFrom = null } = await listEntries(accountsOf(call, needs), page);
      return Response.json({
        object: "list",
        data: entries,
        has_more: scannedFrom !== null,
        scanned_from: scannedFrom,
      });
    },
  ),
  adminRoute(
    {
      route: "get /admin/v1/holds",
      operationId: "listHolds",
      summary: "Open holds, by id.",
      query: holdQuery,
      answer: listSchema(hold),
      notFound,
    },
    async (call, needs) => {
      const { limit, after, ...named } = parseQuery(call.request, holdQuery);
      const found = await listHolds(accountsOf(call, needs), { limit: limit + 1, after, owner: ownerIn(named) });
      return Response.json(listOf(found, limit, (each) => each));
    },
  ),
];
