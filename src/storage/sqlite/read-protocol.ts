import type { Value } from "../sql/statement.ts";

/** A message to the thread that reads: a statement, or `NEXT` for further rows of it. The last message is `STOP`. */
export type ReadRequest = { id: number; text: string; values: readonly Value[] } | { id: number; next: true };

/**
 * A message from that thread: some rows, whose values are in the order of the columns, or why it failed. `more` are to be asked for: each
 * part holds up the thread that receives it for a fraction of a millisecond.
 */
export type ReadReply =
  | { id: number; columns: readonly string[]; rows: readonly (readonly unknown[])[]; more: boolean }
  | { id: number; message: string; code: string | undefined };

/** The message on which the thread closes the file and ends. */
export const STOP = "stop";
