import type { Principal, TokenStore } from "../auth/index.ts";
import type { AdmitFree, PaidAnswer, PaidRequest, ParkedWork } from "../charges/index.ts";
import type { Environment } from "../core/index.ts";
import type { MemoryBudget, Ticker } from "../streaming/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Webhooks } from "../webhooks/index.ts";
import type { LineTurns } from "./line-turns.ts";
import type { BatchProvider, BatchProviders } from "./native/upstream-batches.ts";
import type { BatchStore, KeptFileStore, SliceStore } from "./store.ts";

/** The kind of the jobs of batches. */
export const BATCH_JOB = "batch";

/** A route whose calls a batch may contain. */
export interface BatchEndpoint {
  /** Performs one call of it. */
  perform: (request: PaidRequest) => Promise<PaidAnswer>;
  /** Throws if there is no such model, or if the caller may not use it. */
  resolve: (model: string, principal: Principal) => void;
  /** The provider whose own batches can contain calls of this model; undefined if none can. */
  batchedBy: (model: string, principal: Principal) => BatchProvider | undefined;
}

/** The operator's bounds. */
interface BatchBounds {
  bytesPerUserMax: number;
  linesMax: number;
  fileBytesMax: number;
  lineBytesMax: number;
  keepMs: number;
}

export interface BatchDependencies {
  batches: BatchStore;
  slices: SliceStore;
  /** The providers with batches of their own. */
  providers: BatchProviders;
  /** Gives back what is held for a line that its provider has not called. Never rejects. */
  discard: (work: ParkedWork) => Promise<unknown>;
  files: KeptFileStore;
  /** Called when a batch is due, with the kind of its job. */
  wake: (kind: string) => void;
  /** By their paths. */
  endpoints: ReadonlyMap<string, BatchEndpoint>;
  turns: LineTurns;
  /** Counts the lines that are called, or are called again later. */
  memory: Pick<MemoryBudget, "take">;
  tokens: Pick<TokenStore, "findById">;
  webhooks: Pick<Webhooks, "check" | "schedule">;
  admitFree: AdmitFree;
  environment: Pick<Environment, "clock" | "randomBytes">;
  ticker: Pick<Ticker, "now" | "pause" | "after">;
  logger: Logger;
  publicUrl: string;
  bounds: BatchBounds;
}
