/**
 * The processes of a deployment learn of targets from each other: a circuit that opens in one opens in all, a refused key
 * rests everywhere, and a target that the operator disables is disabled everywhere. Changes are written behind the calls, one at a time, and
 * are read when the storage reports that another process has written. Without the storage each process goes on alone.
 */
import type { Clock, Every } from "../../core/index.ts";
import type { CircuitState, Circuits } from "../health/circuits.ts";
import type { OverrideChanges, Overrides } from "../health/overrides.ts";
import type { TargetState, TargetStore } from "./store.ts";

/** How far the clocks of the processes may differ. A change is read again in this time, and taken over once. */
const CLOCKS_DIFFER_MS_MAX = 60_000;

/** A change that was missed, and an override whose time is over, are noticed so late. */
const READ_AGAIN_MS = 30_000;

/** A state is kept no longer than any circuit is open. */
const KEPT_MS = 3_600_000;

/** Of changes that have not been written yet, and of those that have been taken over. */
const CHANGES_MAX = 2_000;

/** Takes over a change of another process, from this time. */
type AdoptKey = (id: string, state: "refused" | "works", changedAt: number) => void;

export interface SharedTargetsOptions {
  store: TargetStore;
  /** Calls back when another process may have written. */
  onForeignChange: (callback: () => void) => () => void;
  clock: Clock;
  every: Every;
  /** A name of this process that no other one has. */
  process: string;
  circuits: Circuits | undefined;
  overrides: Overrides;
  adoptKey: AdoptKey;
  onOverrides: (changes: OverrideChanges) => void;
  /** The storage does not answer. */
  onFailure: (reason: unknown) => void;
}

export class SharedTargets {
  readonly #options: SharedTargetsOptions;
  readonly #stops: (() => void)[];
  /** The changes to be written, by id. */
  readonly #unwritten = new Map<string, TargetState>();
  #writing: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  #mustReadAgain = false;
  /** The newest change that was taken over, of each id. */
  readonly #adopted = new Map<string, string>();
  /** Changes from before this process began count too: a key that was refused long ago may work, which its next call finds out. */
  #readUntil = 0;
  #failed = false;

  constructor(options: SharedTargetsOptions) {
    this.#options = options;
    const { circuits, onForeignChange, every } = options;
    if (circuits !== undefined) circuits.onLearnt = (id, state) => this.#learnCircuit(id, state);
    const read = (): void => void this.read();
    this.#stops = [onForeignChange(read), every(READ_AGAIN_MS, read), every(KEPT_MS, () => void this.#tidy())];
    read();
  }

  /** This process has learnt that a key is refused time and again, or works again. */
  learnKey(id: string, state: "refused" | "works"): void {
    this.#write({ id, kind: state === "works" ? "repaired" : state, openUntil: 0, pauseMs: 0 });
  }

  /** Reads the changes of other processes; at most twice for any number of reports at once. */
  read(): Promise<void> {
    this.#mustReadAgain = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Resolves when nothing is left to be written. */
  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.#writing;
  }

  #learnCircuit(id: string, state: CircuitState): void {
    if (state === "works") this.#write({ id, kind: "works", openUntil: 0, pauseMs: 0 });
    else this.#write({ id, kind: "open", ...state });
  }

  #write(change: Pick<TargetState, "id" | "kind" | "openUntil" | "pauseMs">): void {
    const { process, clock } = this.#options;
    if (this.#unwritten.size >= CHANGES_MAX) return;
    this.#unwritten.set(change.id, { ...change, process, changedAt: clock() });
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    for (const [id, state] of this.#unwritten) {
      this.#unwritten.delete(id);
      await this.#attempt(() => this.#options.store.putState(state));
    }
  }

  async #readAll(): Promise<void> {
    const { store, clock, overrides, onOverrides, process } = this.#options;
    while (this.#mustReadAgain) {
      this.#mustReadAgain = false;
      await this.#attempt(async () => {
        const changes = overrides.replace(await store.overrides(clock()));
        if (changes.disabled.length + changes.enabled.length > 0) onOverrides(changes);
        for (const state of await store.statesSince(this.#readUntil - CLOCKS_DIFFER_MS_MAX)) {
          this.#readUntil = Math.max(this.#readUntil, Math.min(state.changedAt, clock()));
          if (state.process !== process) this.#adopt(state);
        }
      });
    }
  }

  #adopt({ id, kind, openUntil, pauseMs, process, changedAt }: TargetState): void {
    const change = `${process} ${changedAt} ${kind}`;
    if (this.#adopted.get(id) === change || this.#unwritten.has(id)) return;
    if (this.#adopted.size >= CHANGES_MAX) this.#adopted.clear();
    this.#adopted.set(id, change);
    const { circuits, adoptKey } = this.#options;
    if (kind === "refused") adoptKey(id, "refused", changedAt);
    else if (kind === "repaired") adoptKey(id, "works", changedAt);
    else circuits?.adopt(id, kind === "works" ? "works" : { openUntil, pauseMs });
  }

  #tidy(): Promise<void> {
    return this.#attempt(() => this.#options.store.removeStatesBefore(this.#options.clock() - KEPT_MS));
  }

  /** A storage that does not answer is reported once, until it answers again. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#failed = false;
    } catch (reason) {
      if (!this.#failed) this.#options.onFailure(reason);
      this.#failed = true;
    }
  }
}
