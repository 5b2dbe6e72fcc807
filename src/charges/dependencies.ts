import type { OpenAnswers, Principal } from "../auth/index.ts";
import type { JsonObject, TraceContext } from "../core/index.ts";
import type { Ledger, Release, Settle } from "../ledger/index.ts";
import type { Ticker } from "../streaming/index.ts";
import type { EndJournal } from "./end-journal.ts";
import type { ContentTaker } from "./observers/content.ts";
import type { WorkObserver } from "./observers/work-observer.ts";

/** The needs of the end of a hold. */
export interface EndDependencies {
  ledger: Ledger;
  ticker: Ticker;
  onUnsettled: (id: string, reason: unknown) => void;
  /** Ends that the store has not accepted yet. */
  unsettled: Map<string, Settle | Release>;
  /** Keeps those ends beyond the process. */
  journal: EndJournal;
  observer: WorkObserver;
}

/** The tags of a call, and those of its headers that are none. */
interface TaggedOrder {
  tags: Readonly<Record<string, string>> | undefined;
  dropped: string | undefined;
  /** Stores the tags' new values, once the call is held; undefined if there are none. */
  keep?: (() => Promise<void>) | undefined;
}

/** Reads the tags of calls: see `CallTags`. */
interface TagReader {
  of(principal: Principal, headers: Headers, body: JsonObject | undefined): TaggedOrder;
}

/** The needs of paid work. The ticker must tick often enough to renew a lease in time. */
export interface WorkDependencies extends EndDependencies {
  clock: () => number;
  /** Ends the streams of tokens that may no longer be used. */
  openAnswers: Pick<OpenAnswers, "add" | "remove">;
  /** Reads the caller's span; absent unless traces are recorded. */
  traceOf?: ((headers: Headers) => TraceContext | undefined) | undefined;
  /** Absent if no call has tags. */
  tags?: TagReader | undefined;
  /** Absent unless the operator wants content. */
  contents?: ContentTaker | undefined;
}
