import type { ErrorCode } from "../../core/index.ts";
import type { TableRequest } from "./table-reader.ts";

/** A message to the thread that reads tables: a table, `next` for more of it, or the end of the reading. The last message is `STOP`. */
export type RowsMessage =
  | { id: number; request: TableRequest }
  | { id: number; next: true }
  | { id: number; close: true };

/** Why a table can't be read: a refusal with its code, or any other failure. */
export interface RowsFailure {
  message: string;
  code: ErrorCode | undefined;
  param: string | undefined;
}

/** A message from that thread, for each table and each `next`. After the end of a table, and a failure, the thread has forgotten it. */
export type RowsReply =
  | { id: number; bytes: Uint8Array<ArrayBuffer> }
  | { id: number; end: true }
  | { id: number; failure: RowsFailure };

/** The message on which the thread closes the file and ends. */
export const STOP = "stop";
