/** The queries that list calls: one's own, and all for operators. */
import { z } from "@hono/zod-openapi";
import { type Calendar, isRequestId } from "../../core/index.ts";
import type { CallFilter, CallPage, CallQuery } from "../../generations/index.ts";
import { periodOf } from "../../spending/index.ts";
import { printableText, tagFilter, tagsAsked } from "./tag-query.ts";
import { moment } from "./usage.ts";

const name = printableText(128);

export const callFilter = {
  from: moment.optional().describe("As of `/v1/usage`: calls that began then or later."),
  to: moment.optional().describe("As of `/v1/usage`: calls that began before."),
  token: name.optional().describe("The id of a token."),
  provider: name.optional().describe("The prefix of a provider."),
  model: printableText(256).optional().describe("The id of a model, with the prefix of its provider."),
  operation: name.optional(),
  status: z
    .enum(["ok", "failed"])
    .optional()
    .describe("failed: the outcomes failed, interrupted and expired. ok: complete, and abandoned by the client."),
  session: name.optional(),
  end_user: name.optional(),
  ...tagFilter,
  format: z.enum(["json", "csv"]).default("json").describe("csv: all calls of the period in one answer."),
};

export const callCursor = z
  .string()
  .refine(isRequestId, "write the next_cursor of the page before")
  .meta({ pattern: "^req_[0-9a-z]{25}$" })
  .optional()
  .describe("The `next_cursor` of the page before.");

/** The members of lists of calls besides the calls. */
export const callPageFields = {
  has_more: z.boolean(),
  next_cursor: z.string().optional().describe("The cursor of the next page; absent on the last one."),
  scanned_from: z.iso
    .datetime()
    .optional()
    .describe(
      "Present if the filter left out so many calls that the search stopped at this time: go on with `next_cursor`, or ask for a shorter time.",
    ),
};

interface FilterQuery {
  token?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  operation?: string | undefined;
  status?: "ok" | "failed" | undefined;
  session?: string | undefined;
  end_user?: string | undefined;
}

export function filterOf(query: FilterQuery, request: Request): Omit<CallFilter, "owner" | "organisationAccount"> {
  const { token: tokenId, provider, model, operation, status, session, end_user: endUser } = query;
  return {
    tokenId,
    provider,
    model,
    operation,
    hasFailed: status === undefined ? undefined : status === "failed",
    session,
    endUser,
    tags: tagsAsked(request),
  };
}

interface Bounds {
  query: Parameters<typeof periodOf>[0] & { after?: string | undefined };
  request: Request;
}

/** The calls of a period that match the filter. Throws 422 if it ends before it begins. */
export function callQueryOf(
  { query: { from, to, after }, request }: Bounds,
  { filter, now, calendar }: { filter: CallFilter; now: number; calendar: Calendar },
): CallQuery {
  return { filter, ...periodOf({ from, to }, now, calendar), after, signal: request.signal };
}

/** The members of a page's answer besides its calls. */
export function pageFieldsOf({ next, scannedFrom }: CallPage) {
  return {
    has_more: next !== undefined,
    ...(next !== undefined && { next_cursor: next }),
    ...(scannedFrom !== undefined && { scanned_from: new Date(scannedFrom).toISOString() }),
  };
}
