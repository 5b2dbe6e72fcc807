import type { Caller } from "../../accounts/index.ts";
import type { CallQuery } from "../../generations/index.ts";
import { answerRows } from "./answer-rows.ts";
import type { TableReader } from "./table-reader.ts";

/** All calls of a query as CSV; with their users and organisations if there is a caller who sees them. */
export function answerCalls(
  tables: TableReader,
  { signal = new AbortController().signal, ...query }: CallQuery,
  caller: Caller | undefined,
): Promise<Response> {
  const chunks = tables.read({ what: "calls", query, caller, format: "csv" }, signal);
  return answerRows(chunks, { name: "calls", format: "csv" });
}
