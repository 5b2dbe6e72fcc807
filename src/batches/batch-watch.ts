/** Looks whether a batch goes on: whether it was cancelled, has expired, or has lost its run or its token. */
import { absentCaller, type Principal } from "../auth/index.ts";
import { GatewayError, isOutsideFault } from "../core/index.ts";
import type { BatchDependencies } from "./dependencies.ts";
import type { LineCounts, StoredBatch } from "./store.ts";

/** How often the batch and its token are looked up. */
const LOOK_MS = 500;

/** Why the remaining lines are not called. */
export interface EarlyEnd {
  status: "completed" | "cancelled" | "expired";
  outcome: keyof LineCounts;
  error: GatewayError;
}

export class BatchWatch {
  /** Undefined until the first look. */
  principal: Principal | undefined;
  early: EarlyEnd | undefined;
  /** Whether another run has the batch. */
  isLost = false;
  readonly #deps: Pick<BatchDependencies, "ticker" | "batches" | "environment" | "tokens">;
  readonly #batch: StoredBatch;
  #lookedAt = -Infinity;

  constructor(deps: Pick<BatchDependencies, "ticker" | "batches" | "environment" | "tokens">, batch: StoredBatch) {
    this.#deps = deps;
    this.#batch = batch;
  }

  /** Does nothing if the last look is recent. */
  async look(): Promise<void> {
    const { ticker, batches, environment } = this.#deps;
    if (ticker.now() - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = ticker.now();
    const found = await batches.look(this.#batch);
    if (found === undefined) this.isLost = true;
    else if (found.status === "cancelling") {
      const error = new GatewayError("batch_cancelled", "The batch was cancelled before this line was called.");
      this.early ??= { status: "cancelled", outcome: "cancelled", error };
    } else if (environment.clock() >= found.expiresAt) {
      const error = new GatewayError("batch_expired", "This line was not called before the batch expired.");
      this.early ??= { status: "expired", outcome: "expired", error };
    }
    await this.#lookAtToken();
  }

  async #lookAtToken(): Promise<void> {
    const { tokens, environment } = this.#deps;
    try {
      this.principal = await absentCaller(tokens, this.#batch.tokenId, environment.clock());
    } catch (error) {
      if (!isOutsideFault(error)) throw error;
      this.early ??= { status: "completed", outcome: "failed", error };
    }
  }
}
