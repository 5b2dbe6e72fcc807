import type { JsonObject } from "../json.ts";
import { SimulatorClock } from "../videos/stored-videos.ts";

/** One request of a batch. */
export interface BatchLine {
  readonly id: string;
  /** The path of its route, absolute. */
  readonly path: string;
  readonly body: JsonObject;
}

/** The end of one request: its answer, or that it was not called. */
export interface LineOutcome {
  readonly id: string;
  readonly answer: { readonly status: number; readonly body: unknown } | "expired" | "cancelled";
}

export interface StoredBatch {
  /** The API key: each one has an account of its own. */
  readonly account: string;
  readonly id: string;
  /** The members of the provider's answer about it that never change. */
  readonly body: JsonObject;
  readonly lines: readonly BatchLine[];
  /** By the simulators' clock, in milliseconds. */
  readonly createdAt: number;
  /** Why it fails before its first line; undefined if it does not. */
  readonly refusal: { readonly code: string; readonly message: string; readonly line: number | null } | undefined;
  cancelledAt: number | undefined;
  /** Once it has ended. */
  outcomes: readonly LineOutcome[] | undefined;
  /** Ids of the files of its results, once they are made. */
  files: { readonly output: string | null; readonly error: string | null } | undefined;
}

export type BatchPhase = "validating" | "running" | "cancelling" | "completed" | "refused" | "expired" | "cancelled";

/** A batch is checked for this long, then runs for this long, and is cancelled within this time. */
const checkedMs = 200;
const runningMs = 800;
const cancellingMs = 200;
const dayMs = 86_400_000;
const batchesMax = 2_000;

/** The batches that one provider runs; the oldest make room for new ones. */
export class StoredBatches {
  readonly clock: SimulatorClock;
  readonly #batches = new Map<string, StoredBatch>();
  #count = 0;

  constructor(clock = new SimulatorClock()) {
    this.clock = clock;
  }

  /** A number for each batch: equal requests make different ones. */
  next(): number {
    this.#count += 1;
    return this.#count;
  }

  add(made: Pick<StoredBatch, "account" | "id" | "body" | "lines" | "refusal">): StoredBatch {
    const batch: StoredBatch = {
      ...made,
      createdAt: this.clock.now,
      cancelledAt: undefined,
      outcomes: undefined,
      files: undefined,
    };
    this.#batches.set(batch.id, batch);
    const [oldest] = this.#batches.keys();
    if (this.#batches.size > batchesMax && oldest !== undefined) this.#batches.delete(oldest);
    return batch;
  }

  get(account: string, id: string): StoredBatch | undefined {
    const batch = this.#batches.get(id);
    return batch?.account === account ? batch : undefined;
  }

  delete(id: string): void {
    this.#batches.delete(id);
  }

  /** Newest first. */
  all(account: string): StoredBatch[] {
    return [...this.#batches.values()].filter((batch) => batch.account === account).toReversed();
  }

  cancel(batch: StoredBatch): void {
    if (this.phaseOf(batch) === "running" || this.phaseOf(batch) === "validating") batch.cancelledAt = this.clock.now;
  }

  phaseOf(batch: StoredBatch): BatchPhase {
    const age = this.clock.now - batch.createdAt;
    if (batch.refusal !== undefined && age >= checkedMs) return "refused";
    const { cancelledAt } = batch;
    if (cancelledAt !== undefined) return this.clock.now - cancelledAt < cancellingMs ? "cancelling" : "cancelled";
    if (age < checkedMs) return "validating";
    const word = wordIn(batch.lines);
    if (age >= dayMs && (word === "expire" || word === "wait")) return "expired";
    if (word === "expire" || word === "wait") return "running";
    return age < checkedMs + runningMs * (word === "slow" ? 10 : 1) ? "running" : "completed";
  }
}

/** The word in any of its requests that chooses the end of a batch: see simulators/README.md. */
export function wordIn(lines: readonly BatchLine[]): string | undefined {
  for (const { body } of lines) {
    const [, word] = /\bbatch:(refuse|expire|wait|slow)\b/.exec(JSON.stringify(body)) ?? [];
    if (word !== undefined) return word;
  }
  return undefined;
}
