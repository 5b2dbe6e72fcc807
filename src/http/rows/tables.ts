/** The rows of tables, and their texts. */
import { type AccountsDependencies, auditJson, entriesOf } from "../../accounts/index.ts";
import type { GenerationStore } from "../../generations/index.ts";
import { allSpending, callFilterOf } from "../../spending/index.ts";
import { allCallColumns, callObjects, ownCallColumns } from "../account/call-rows.ts";
import { answerOf } from "../account/generation.ts";
import { noReport } from "../account/usage.ts";
import { shownCalls } from "../admin/calls/shown-calls.ts";
import { focusColumns, focusRow } from "../admin/exports/focus.ts";
import { ownerIn } from "../admin/requests.ts";
import type { TableReader, TableRequest } from "./table-reader.ts";

/** Rows of the audit log that are read at once. */
const AUDIT_ROWS = 500;

/** A row of the audit log may have been begun before the one before it: by less than this. */
const ACT_MS_MAX = 86_400_000;

export interface TableDependencies {
  admin: Omit<AccountsDependencies, "caller">;
  generations: GenerationStore;
}

interface TableRows {
  columns: readonly string[];
  parts: AsyncIterable<readonly object[]>;
}

const names = (text: string): readonly string[] => text.split(" ");

const usageColumns = names(
  "day organisation organisation_id project project_id user user_id token_id provider model operation " +
    "requests failures input_tokens output_tokens credits list_credits buckets",
);

const entryColumns = names(
  "id kind created_at organisation organisation_id user user_id project project_id token " +
    "debit_account credit_account amount held shortfall budgets actor reason",
);

const auditColumns = names("number at actor act target address request_id reason before after hash");

/** Reads tables in this thread, with other work between their rows. */
export class TablesHere implements TableReader {
  readonly #deps: TableDependencies;

  constructor(deps: TableDependencies) {
    this.#deps = deps;
  }

  async *read(request: TableRequest, signal: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
    const { columns, parts } = await rowsOf(this.#deps, request, signal);
    // On SQLite another thread loads it.
    const { chunksOf } = await import("./row-texts.ts");
    yield* chunksOf(parts, { columns, format: request.format });
    return undefined;
  }
}

async function rowsOf(
  { admin, generations }: TableDependencies,
  request: TableRequest,
  signal: AbortSignal,
): Promise<TableRows> {
  if (request.what === "calls") {
    const { query, caller } = request;
    const calls = { ...query, signal };
    if (caller === undefined) {
      const parts = callObjects(generations, calls, async (some) => some.map(answerOf));
      return { columns: ownCallColumns, parts };
    }
    const parts = callObjects(generations, calls, (some) => shownCalls({ ...admin, caller }, some));
    return { columns: allCallColumns, parts };
  }
  const { caller, from, to } = request;
  const deps = { ...admin, caller };
  switch (request.what) {
    case "usage": {
      const { organisation, user, project, token, isFocus } = request;
      const { calendar } = generations;
      const asked = { from, to, organisation, user, project, token, signal };
      const found = await allSpending({ ...deps, generations }, asked, isFocus ? [] : ["buckets"]);
      if ("removedBefore" in found) throw noReport(found.removedBefore, { from, zone: calendar.zone });
      if (!isFocus) return { columns: usageColumns, parts: found.parts };
      return { columns: focusColumns, parts: mapped(found.parts, (row) => focusRow(row, { calendar, from, to })) };
    }
    case "generations": {
      const { organisation, user, project, token } = request;
      const filter = await callFilterOf(deps, { organisation, user, project, token });
      const calls = { filter, from, to, signal };
      const parts = callObjects(generations, calls, (some) => shownCalls(deps, some));
      return { columns: allCallColumns, parts };
    }
    case "entries": {
      const { organisation, user, project, token } = request;
      const owner = ownerIn({ organisation, user, project, token });
      return { columns: entryColumns, parts: entriesOf(deps, { owner, from, to }) };
    }
    default:
      return { columns: auditColumns, parts: auditRows(deps, { from, to }) };
  }
}

async function* auditRows(
  { log }: Pick<AccountsDependencies, "log">,
  { from, to }: { from: number; to: number },
): TableRows["parts"] {
  for (let before: number | undefined, isLast = false; !isLast;) {
    const rows = await log.list({ limit: AUDIT_ROWS, before });
    yield rows.filter(({ at }) => at >= from && at < to).map(auditJson);
    const last = rows.at(-1);
    before = last?.number;
    isLast = rows.length < AUDIT_ROWS || (last?.at ?? 0) < from - ACT_MS_MAX;
  }
}

async function* mapped<Row>(parts: AsyncIterable<readonly Row[]>, map: (row: Row) => object): TableRows["parts"] {
  for await (const rows of parts) yield rows.map(map);
}
