import type { CallFile, GatewayError, Nano } from "../core/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { WorkOrder } from "./work-order.ts";

/**
 * Why an attempt failed: through its key; in a way that another attempt may not (`retryable`); by the request's own fault
 * (`final`); without an answer, or one that is no HTTP; or since the gateway (`timed-out`) or the client gave it up.
 */
export type AttemptFailure =
  | "refused-key"
  | "limited-key"
  | "retryable"
  | "final"
  | "unreachable"
  | "invalid-answer"
  | "timed-out"
  | "abandoned";

/** One request to an upstream that has been answered, or has failed. */
export interface AttemptReport {
  /** The work that it was made for; undefined for a question that is free. */
  workId: string | undefined;
  provider: string;
  /** The id of the provider's key that was used, never the key. */
  keyId: string;
  /** Counted from 1. */
  attempt: number;
  /** The upstream's status; undefined where no answer came. */
  status: number | undefined;
  /** The failure as it was classified; undefined for a success. */
  failure: AttemptFailure | undefined;
  /** Until the head of the answer, or the failure. */
  milliseconds: number;
  /** How long the next attempt waits; undefined where there is none. */
  retryInMs: number | undefined;
}

/** The end of a piece of work. Counts and names only: nothing of what was said. */
export interface WorkReport {
  order: WorkOrder;
  record: CallRecord;
  /** What was charged, as a decimal number of credits. */
  credits: string;
  files: readonly CallFile[] | undefined;
  error: GatewayError | undefined;
}

/** The end of a piece of work, once it is durable. */
export interface CommitReport {
  id: string;
  /** What the work cost beyond its hold and all that the account had left: nobody pays for it. */
  shortfall: Nano;
}

/** Observes all paid work, however it is done. None of the methods may throw. */
export interface WorkObserver {
  /** A request to an upstream was answered or failed. */
  attempted?(attempt: AttemptReport): void;
  /** The ledger refused to begin the work: no credits, a limit, a retry key. */
  refused?(order: WorkOrder, error: GatewayError): void;
  /** The work has ended. Its end may not be durable yet. */
  ended?(report: WorkReport): void;
  /** The end of the work is durable. */
  committed?(commit: CommitReport): void;
}
