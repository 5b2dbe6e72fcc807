/** Everything of a time as one file, which is written while it is read. */
import { z } from "@hono/zod-openapi";
import { GatewayError } from "../../../core/index.ts";
import { periodOf } from "../../../spending/index.ts";
import { moment } from "../../account/usage.ts";
import { parseQuery } from "../../parse-query.ts";
import type { RouteCall } from "../../route.ts";
import { answerRows } from "../../rows/answer-rows.ts";
import type { TableRequest } from "../../rows/table-reader.ts";
import { TablesHere } from "../../rows/tables.ts";
import { accountsOf, type AdminNeeds, adminRoute, rightsOf } from "../admin-route.ts";
import { reference } from "../requests.ts";
import { OpenStreams } from "./open-streams.ts";

const kinds = ["usage", "generations", "entries", "audit"] as const;

/** Each reads the storage as fast as its client takes it. */
const exportsOpen = new OpenStreams("of exports", { max: 4, ofUserMax: 2 });

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

const ownerNames = ["organisation", "user", "project", "token"] as const;

type ExportQuery = Omit<z.output<typeof query>, "from" | "to"> & { from: number; to: number };

/** Throws 403 and 422. */
function requireAudit(
  { principal: { role } }: RouteCall,
  owners: Pick<ExportQuery, (typeof ownerNames)[number]>,
): void {
  if (role !== "owner" && role !== "auditor")
    throw new GatewayError("role_required", `The role ${role} does not have the audit log.`);
  const named = ownerNames.find((name) => owners[name] !== undefined);
  if (named !== undefined)
    throw new GatewayError("validation_failed", `${named}: the audit log is exported as a whole.`, { param: named });
}

function requestOf(call: RouteCall, needs: AdminNeeds, { what, format, ...asked }: ExportQuery): TableRequest {
  const common = {
    ...asked,
    caller: accountsOf(call, needs).caller,
    format: format === "jsonl" ? format : "csv",
  } as const;
  if (what === "audit") requireAudit(call, asked);
  return what === "usage" ? { ...common, what, isFocus: format === "focus" } : { ...common, what };
}

type Chunks = AsyncIterator<Uint8Array, undefined>;

interface Watch {
  signal: AbortSignal;
  isAllowed: () => Promise<boolean>;
  /** Called once, at the end. */
  close: () => void;
  /** Called with a failure after the first bytes: the client sees no reason. */
  onFailure: (reason: unknown) => void;
}

/** Ends when the client leaves, or when the caller loses the rights with which the export began: the authenticator asks once a second. */
async function* watched(
  chunks: Chunks,
  { signal, isAllowed, close, onFailure }: Watch,
): AsyncGenerator<Uint8Array, undefined> {
  let hasBegun = false;
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      if (done === true) return undefined;
      if (signal.aborted) throw new GatewayError("request_interrupted", "The client went away.");
      if (!(await isAllowed())) throw new GatewayError("role_required", "The rights of the caller have changed.");
      yield value;
      hasBegun = true;
    }
  } catch (reason) {
    if (hasBegun) onFailure(reason);
    throw reason;
  } finally {
    close();
    await chunks.return?.();
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
    const { signal } = call.request;
    const table = requestOf(call, needs, { ...asked, from, to });
    const isAllowed = await rightsOf(call, needs);
    const { tables = new TablesHere(needs) } = needs;
    const close = exportsOpen.open(generations, call.principal.user);
    const onFailure = (reason: unknown): void =>
      needs.admin.logger?.warn(
        { request_id: call.requestId, what, reason: String(reason) },
        "an export has ended early",
      );
    const name = format === "focus" ? "focus" : what;
    const chunks = watched(tables.read(table, signal), { signal, isAllowed, close, onFailure });
    return answerRows(chunks, { name, format: table.format });
  },
);
