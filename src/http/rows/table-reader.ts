/** The tables that are answered as files, each asked for by plain data, so that another thread can read them. */
import type { Caller } from "../../accounts/index.ts";
import type { CallQuery } from "../../generations/index.ts";

interface Period {
  /** In milliseconds since the epoch. */
  from: number;
  to: number;
}

/** By ids or names. */
interface Owners {
  organisation?: string | undefined;
  user?: string | undefined;
  project?: string | undefined;
  token?: string | undefined;
}

/** Rows of a time in the reach of a caller. */
interface ReachedRows extends Period {
  caller: Caller;
}

type Table =
  | ({ what: "usage"; isFocus: boolean } & ReachedRows & Owners)
  | ({ what: "generations" | "entries" } & ReachedRows & Owners)
  | ({ what: "audit" } & ReachedRows)
  /** Those of a query; with their users and organisations if there is a caller who sees them. */
  | { what: "calls"; query: Omit<CallQuery, "signal">; caller: Caller | undefined };

export type TableRequest = Table & { format: "csv" | "jsonl" };

/** Reads tables. */
export interface TableReader {
  /**
   * A table's text in UTF-8, some of it at a time, as far as it is asked for; each chunk has memory of its own, which its reader may give away. Rejects with a `GatewayError` for owners out of reach, and for
   * sums whose rows were removed. An aborted signal ends it.
   */
  read(request: TableRequest, signal: AbortSignal): AsyncIterator<Uint8Array<ArrayBuffer>, undefined>;
}
