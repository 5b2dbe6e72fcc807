/** Everything of a time as one file, which is written while it is read. */
import { z } from "@hono/zod-openapi";
import { auditJson, entriesOf } from "../../../accounts/index.ts";
import { GatewayError } from "../../../core/index.ts";
import { allSpending, callFilterOf, periodOf } from "../../../spending/index.ts";
import { allCallColumns, callObjects } from "../../account/call-csv.ts";
import { moment, noReport } from "../../account/usage.ts";
import { answerRows } from "../../answer-rows.ts";
import { parseQuery } from "../../parse-query.ts";
import type { RouteCall } from "../../route.ts";
import { accountsOf, type AdminNeeds, adminRoute, rightsOf } from "../admin-route.ts";
import { shownBy } from "../calls/calls.ts";
import { ownerIn, reference } from "../requests.ts";
import { focusColumns, focusRow } from "./focus.ts";
import { OpenStreams } from "./open-streams.ts";

const kinds = ["usage", "generations", "entries", "audit"] as const;

type Kind = (typeof kinds)[number];

/** Each reads the storage as fast as its client takes it. */
const exportsOpen = new OpenStreams("of exports", { max: 4, ofUserMax: 2 });

/** Rows of the audit log that are read at once. */
const AUDIT_ROWS = 500;

/** A row of the audit log may have been begun before the one before it: by less than this. */
const ACT_MS_MAX = 86_400_000;

const query = z.object({
  what: z
    .enum(kinds)
    .default("usage")
    .describe("usage: sums of each day, token, model and operation. generations: calls."),
  format: z
    .enum(["csv", "jsonl", "focus"])
    .default("csv")
    .describe("focus: usage in the columns of FOCUS 1.0, as CSV. jsonl: a line of JSON for each row."),
  from: moment.optional().describe("As of `/v1/usage`: rows that began, or were written, then or later."),
  to: moment.optional().describe("As of `/v1/usage`: rows that began, or were written, before."),
  organisation: reference.optional().describe("Rows of this organisation, by id or name; not of the audit log."),
  user: reference.optional(),
  project: reference.optional(),
  token: reference.optional().describe("The id of a token."),
});

type ExportQuery = Omit<z.output<typeof query>, "from" | "to"> & { from: number; to: number };

const names = (text: string): readonly string[] => text.split(" ");

const columnsOf: Record<Kind, readonly string[]> = {
  usage: names(
    "day organisation organisation_id project project_id user user_id token_id provider model operation " +
      "requests failures input_tokens output_tokens credits list_credits",
  ),
  generations: allCallColumns,
  entries: names(
    "id kind created_at organisation organisation_id user user_id project project_id token " +
      "debit_account credit_account amount held shortfall budgets actor reason",
  ),
  audit: names("number at actor act target address request_id reason before after hash"),
};

type Parts = AsyncIterable<readonly object[]>;

const sources: Record<Kind, (call: RouteCall, needs: AdminNeeds, asked: ExportQuery) => Promise<Parts>> = {
  async usage(call, needs, { from, to, format, organisation, user, project, token }) {
    const { generations } = needs;
    const { calendar } = generations;
    const request = { from, to, organisation, user, project, token, signal: call.request.signal };
    const found = await allSpending({ ...accountsOf(call, needs), generations }, request);
    if ("removedBefore" in found) throw noReport(found.removedBefore, { from, zone: calendar.zone });
    if (format !== "focus") return found.parts;
    return mapped(found.parts, (row) => focusRow(row, { calendar, from, to }));
  },
  async generations(call, needs, { from, to, organisation, user, project, token }) {
    const filter = await callFilterOf(accountsOf(call, needs), { organisation, user, project, token });
    const calls = { filter, from, to, signal: call.request.signal };
    return callObjects(needs.generations, calls, shownBy(call, needs));
  },
  async entries(call, needs, { from, to, organisation, user, project, token }) {
    const owner = ownerIn({ organisation, user, project, token });
    return Promise.resolve(entriesOf(accountsOf(call, needs), { owner, from, to }));
  },
  async audit(call, needs, { from, to, ...owners }) {
    const { role } = call.principal;
    if (role !== "owner" && role !== "auditor")
      throw new GatewayError("role_required", `The role ${role} does not have the audit log.`);
    const named = (["organisation", "user", "project", "token"] as const).find((name) => owners[name] !== undefined);
    if (named !== undefined)
      throw new GatewayError("validation_failed", `${named}: the audit log is exported as a whole.`, { param: named });
    return Promise.resolve(auditRows(needs, { from, to }));
  },
};

async function* auditRows({ admin }: AdminNeeds, { from, to }: { from: number; to: number }): Parts {
  for (let before: number | undefined, isLast = false; !isLast;) {
    const rows = await admin.log.list({ limit: AUDIT_ROWS, before });
    yield rows.filter(({ at }) => at >= from && at < to).map(auditJson);
    const last = rows.at(-1);
    before = last?.number;
    isLast = rows.length < AUDIT_ROWS || (last?.at ?? 0) < from - ACT_MS_MAX;
  }
}

async function* mapped<Row>(parts: AsyncIterable<readonly Row[]>, map: (row: Row) => object): Parts {
  for await (const rows of parts) yield rows.map(map);
}

/** Ends when the client leaves, or when the caller loses the rights with which the export began: the authenticator asks once a second. */
async function* watched(parts: Parts, signal: AbortSignal, isAllowed: () => Promise<boolean>): Parts {
  for await (const rows of parts) {
    if (signal.aborted) throw new GatewayError("request_interrupted", "The client went away.");
    if (!(await isAllowed())) throw new GatewayError("role_required", "The rights of the caller have changed.");
    yield rows;
  }
}

async function* closing(
  parts: Parts,
  { close, onFailure }: { close: () => void; onFailure: (reason: unknown) => void },
): Parts {
  try {
    yield* parts;
  } catch (reason) {
    onFailure(reason);
    throw reason;
  } finally {
    close();
  }
}

export const exportsRoute = adminRoute(
  {
    route: "get /admin/v1/exports",
    operationId: "exportRows",
    summary: "All usage, calls, entries or rows of the audit log of a time, as CSV or lines of JSON.",
    query,
    answer: z.string().describe("A row a line, after a line of names in CSV."),
    media: "text/csv",
    isStream: true,
    otherAnswers: ["application/jsonl"],
    notFound: "There is no such owner in the caller's reach.",
  },
  async (call, needs) => {
    const { from: begin, to: end, ...asked } = parseQuery(call.request, query);
    const { what, format } = asked;
    if (format === "focus" && what !== "usage")
      throw new GatewayError("validation_failed", "format: focus is a format of usage.", { param: "format" });
    const { generations, clock } = needs;
    const { calendar } = generations;
    const { from, to } = periodOf({ from: begin, to: end }, clock(), calendar);
    const isAllowed = await rightsOf(call, needs);
    const parts = watched(await sources[what](call, needs, { ...asked, from, to }), call.request.signal, isAllowed);
    const close = exportsOpen.open(generations, call.principal.user);
    const onFailure = (reason: unknown): void =>
      needs.admin.logger?.warn(
        { request_id: call.requestId, what, reason: String(reason) },
        "an export has ended early",
      );
    return answerRows(closing(parts, { close, onFailure }), {
      name: format === "focus" ? "focus" : what,
      format: format === "jsonl" ? "jsonl" : "csv",
      columns: format === "focus" ? focusColumns : columnsOf[what],
    });
  },
);
