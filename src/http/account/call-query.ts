/** The queries that list calls: one's own, and all for operators. */
import { z } from "@hono/zod-openapi";
import { type Calendar, GatewayError, isRequestId, isTagValue, TAG_KEY } from "../../core/index.ts";
import type { CallFilter, CallPage, CallQuery } from "../../generations/index.ts";
import { periodOf } from "../../spending/index.ts";
import { moment } from "./usage.ts";

/** Of a filter. Postgres takes no NUL. */
export const printableText = (charactersMax: number) =>
  z
    .string()
    .min(1)
    .max(charactersMax)
    .regex(/^[ -~\u00a1-\uffff]+$/);

const name = printableText(128);

/** A tag's value by `tag:` and its key. */
const TAG_PREFIX = "tag:";

/** How the document shows the filters by tags, whose names are not known ahead. */
export const tagFilter = {
  "tag:KEY": z
    .string()
    .max(128)
    .optional()
    .describe("The value of a tag, whose key stands for KEY: `tag:team=search`. Empty: calls without that tag."),
};

/** The tags that a query asks for; null for calls without one. Throws 422 for a key or a value that no tag can have. */
export function tagsAsked({ url }: Pick<Request, "url">): Record<string, string | null> | undefined {
  const asked: [string, string | null][] = [];
  for (const [param, value] of new URL(url).searchParams) {
    if (!param.startsWith(TAG_PREFIX)) continue;
    const key = param.slice(TAG_PREFIX.length);
    if (!TAG_KEY.test(key) || (value !== "" && !isTagValue(value)))
      throw new GatewayError("validation_failed", `${param.slice(0, 80)}: no tag`, { param: param.slice(0, 80) });
    asked.push([key, value === "" ? null : value]);
  }
  return asked.length === 0 ? undefined : Object.fromEntries(asked);
}

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
