import type { CallFile, FailureName, GatewayError, Nano } from "../../core/index.ts";
import type { CallRecord } from "../../ledger/index.ts";
import type { WorkOrder } from "../work-order.ts";

/** Why an attempt failed: its class, or `abandoned` if its client left or the gateway stopped. */
export type AttemptFailure = FailureName | "abandoned";

/** One request to an upstream that was answered or failed. */
export interface AttemptReport {
  /** The work that it belongs to; undefined for a free request. */
  workId: string | undefined;
  provider: string;
  /** The provider's name of the model; undefined for a free request without one. */
  model: string | undefined;
  /** The id of the provider's key, never the key itself. */
  keyId: string;
  /** Counted from 1. */
  attempt: number;
  /** The upstream's status; undefined without an answer. */
  status: number | undefined;
  /** The upstream's own id of the request; undefined for a success, whose record has it. */
  upstreamRequestId?: string | undefined;
  /** The class of the failure; undefined for a success. */
  failure: AttemptFailure | undefined;
  /** Its start, by the performance clock. */
  begunAt: number;
  /** The time to the head of the answer, or to the failure. */
  milliseconds: number;
  /** The delay before the next attempt; undefined if there is none. */
  retryInMs: number | undefined;
  /**
   * The price of an attempt whose request was written and whose answer is lost, as a decimal number of credits; undefined
   * for all others, and if the client pays for it.
   */
  unbilled: string | undefined;
}

/** The end of a piece of work. Counts and names only, never prompts or answers. */
export interface WorkReport {
  order: WorkOrder;
  record: CallRecord;
  /** From its arrival until its hold was durable; absent if that was taken ahead, or by another process. */
  heldMs?: number | undefined;
  /** The charge, as a decimal number of credits. */
  credits: string;
  /** The cost that the operator may owe the upstream and nobody is charged for, in credits; undefined if there is none. */
  unbilled: string | undefined;
  files: readonly CallFile[] | undefined;
  error: GatewayError | undefined;
}

/** The end of a piece of work, once it is durable. */
export interface CommitReport {
  id: string;
  /** The cost beyond the hold and all available credits of the account, which remains unpaid. */
  shortfall: Nano;
}

/** Observes all paid work, whatever performs it. No method may throw. */
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
