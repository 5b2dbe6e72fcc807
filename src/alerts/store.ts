import type { NewJob } from "../jobs/index.ts";
import type { Alert } from "./alert.ts";

/** The observations of a process for rules that no storage shows. */
export interface ProcessReport {
  /** Ended work of the last minutes by provider: all of it, and the part that failed by the provider's or the gateway's fault. */
  calls: Readonly<Record<string, readonly [all: number, failed: number]>>;
  /** Calls of the last hour that were refused since their model has no price, by model or provider. */
  unpriced: Readonly<Record<string, number>>;
  /** Credits of the last hour that were owed beyond a balance. */
  shortfall: number;
  /** Ends in the journal. */
  journal: number;
}

export interface AlertStore {
  /** Those that have not closed. */
  active(): Promise<Alert[]>;
  /** Adds a pending one. Changes nothing if there is an active one of its key. */
  add(alert: Alert): Promise<void>;
  /** Notes whether its condition is gone. */
  setGone(id: string, goneAt: number | undefined): Promise<void>;
  /** Opens a pending one and adds the jobs, in one commit. Resolves with false, and changes nothing, if another process was faster. */
  open(id: string, at: number, jobs: readonly NewJob[]): Promise<boolean>;
  /** Closes an open one, like `open`. */
  close(id: string, at: number, jobs: readonly NewJob[]): Promise<boolean>;
  /** Removes a pending one. */
  drop(id: string): Promise<void>;
  /** Replaces the report of a process. */
  putReport(process: string, at: number, report: ProcessReport): Promise<void>;
  /** Those since then, by process. */
  reportsSince(at: number): Promise<ReadonlyMap<string, ProcessReport>>;
  /** Deletes alerts that closed, and reports that were made, before these moments. */
  deleteBefore(moments: { closedAt: number; reportedAt: number }): Promise<void>;
}
