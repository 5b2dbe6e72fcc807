/**
 * The program of the thread that reads for lists, sums and exports, with a connection of its own that can't write. `reader.ts` starts
 * it.
 */
import { type Database, SQLiteError } from "bun:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Value } from "../sql/statement.ts";
import { openToRead } from "./read-only.ts";
import { type ReadReply, type ReadRequest, STOP } from "./read-protocol.ts";

/** Values in a message. The other thread takes about 0.1 ms for a thousand. */
const VALUES_MAX = 2_000;

interface OpenResult {
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  sent: number;
}

const path = String(workerData);
const results = new Map<number, OpenResult>();
let opened: Database | undefined;

/** The next part of a result. */
function partOf(id: number, { columns, rows, sent }: OpenResult): ReadReply {
  const count = Math.max(1, Math.floor(VALUES_MAX / Math.max(1, columns.length)));
  const end = sent + count;
  const more = end < rows.length;
  if (more) results.set(id, { columns, rows, sent: end });
  else results.delete(id);
  return { id, columns, rows: more || sent > 0 ? rows.slice(sent, end) : rows, more };
}

function answer(request: ReadRequest): ReadReply | undefined {
  const { id } = request;
  if ("next" in request) {
    const result = results.get(id);
    return result && partOf(id, result);
  }
  try {
    const statement = (opened ??= openToRead(path)).query<unknown, Value[]>(request.text);
    const rows = statement.values(...request.values);
    return partOf(id, { columns: statement.columnNames, rows, sent: 0 });
  } catch (reason) {
    const message = reason instanceof Error ? reason.message : String(reason);
    return { id, message, code: reason instanceof SQLiteError ? reason.code : undefined };
  }
}

parentPort?.on("message", (request: ReadRequest | typeof STOP) => {
  if (request === STOP) {
    opened?.close();
    parentPort?.close();
    return;
  }
  const reply = answer(request);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads has no origin
  if (reply !== undefined) parentPort?.postMessage(reply);
});
