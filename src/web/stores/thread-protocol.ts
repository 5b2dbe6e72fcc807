/** The stores of a thread. */
export type StoreName = "crawls" | "storedBytes" | "textIndex";

/** A call of a store's method. Arguments and results cross as structured clones. */
export interface StoreCall {
  store: StoreName;
  method: string;
  args: unknown[];
}

/** A message to the thread. The last one is `STOP`. */
export interface StoreRequest extends StoreCall {
  id: number;
}

/** Why a call failed: SQLite's code, if it is one of SQLite's errors. */
export interface StoreFailure {
  message: string;
  code: string | undefined;
}

/** A message from the thread. */
export type StoreReply = { id: number; result: unknown } | { id: number; failure: StoreFailure };

/** The message on which the thread closes its database and ends. */
export const STOP = "stop";
