/**
 * Targets that fail are left out for a while, so that calls with several targets do not wait for them again and again. One
 * circuit for each model of a provider:
 *
 *   closed ──three failures in a row, or half of the last ten in 30 s──▶ open, for 5 s
 *   open ──its pause has passed──▶ half-open: one call at a time is let through
 *   half-open ──it succeeds──▶ ramp: 10, 25, 50, then 100 % of the calls, two seconds each ──▶ closed
 *   half-open, ramp ──a failure──▶ open, for twice as long as before, up to a minute
 *
 * The outcome of a call that began before the circuit opened counts no longer. Nothing is kept of a target without failures.
 */
import type { Clock, RandomFraction } from "../core/index.ts";

const ROW_MAX = 3;
const RECENT_MAX = 10;
const RECENT_MS = 30_000;
const PAUSE_MS = 5_000;
const PAUSE_MS_MAX = 60_000;

/** Callers can name any model as a target. */
const CIRCUITS_MAX = 1_000;

/** The longest pause that an upstream's own delay may cause. */
const DELAY_MS_MAX = 600_000;

/** How long the one call of a half-open circuit is waited for before another is let through. */
const PROBE_MS = 10_000;

const RAMP = [0.1, 0.25, 0.5, 1];
const RAMP_STEP_MS = 2_000;

/** The permission to call a target. */
export interface Admission {
  /** The model id of the target, with its prefix. */
  id: string;
  /** The number of openings before it, of all circuits. */
  openings: number;
  /** Whether the target's circuit is half-open: its answer decides, and must not take long. */
  isProbe: boolean;
}

/** The outcome of an admitted call: the delay that the upstream asks for belongs to a failure. */
export type CircuitOutcome = "works" | { retryAfterMs: number | undefined };

interface Circuit {
  /** The number of the opening that it is after; zero before the first. */
  opening: number;
  /** Undefined while it is closed. */
  openUntil: number | undefined;
  pauseMs: number;
  /** Until when the call of a half-open circuit is waited for. */
  probeUntil: number;
  /** The start of the ramp. */
  rampFrom: number | undefined;
  failuresInRow: number;
  recent: { at: number; isFailure: boolean }[];
}

export interface CircuitOptions {
  clock: Clock;
  random: RandomFraction;
  /** Called when a circuit opens, for so many milliseconds, or has closed again. */
  onChange: (id: string, change: { openMs: number } | "closed") => void;
}

export class Circuits {
  readonly #options: CircuitOptions;
  readonly #circuits = new Map<string, Circuit>();
  #openings = 0;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  /** The number of targets that are not called as usual: their circuits are open, half-open or on their ramp. */
  get open(): number {
    let open = 0;
    for (const { openUntil } of this.#circuits.values()) if (openUntil !== undefined) open += 1;
    return open;
  }

  /** Lets a call to the target through; undefined if it should go to another one. */
  admit(id: string): Admission | undefined {
    const circuit = this.#circuits.get(id);
    const { openUntil, rampFrom } = circuit ?? {};
    if (circuit === undefined || openUntil === undefined) return this.#admission(id, false);
    const now = this.#options.clock();
    if (rampFrom === undefined) {
      if (now < openUntil || now < circuit.probeUntil) return undefined;
      circuit.probeUntil = now + PROBE_MS;
      return this.#admission(id, true);
    }
    const share = RAMP[Math.floor((now - rampFrom) / RAMP_STEP_MS)];
    if (share === undefined) this.#close(id);
    return share === undefined || this.#options.random() < share ? this.#admission(id, false) : undefined;
  }

  /** Lets a call through whatever has happened, since there is no other target. */
  force(id: string): Admission {
    return this.admit(id) ?? this.#admission(id, false);
  }

  /** When the target may be called again, in milliseconds since the epoch; zero if now. */
  dueAt(id: string): number {
    const { openUntil = 0, probeUntil = 0 } = this.#circuits.get(id) ?? {};
    return Math.max(openUntil, probeUntil);
  }

  note({ id, openings }: Admission, outcome: CircuitOutcome): void {
    const circuit = this.#circuits.get(id);
    if (circuit === undefined && outcome === "works") return;
    const noted = circuit ?? this.#create(id);
    if (openings < noted.opening) return;
    if (outcome !== "works") this.#noteFailure(id, noted, outcome.retryAfterMs ?? 0);
    else if (noted.openUntil === undefined) this.#noteSuccess(id, noted);
    else noted.rampFrom ??= this.#options.clock();
  }

  #admission(id: string, isProbe: boolean): Admission {
    return { id, openings: this.#openings, isProbe };
  }

  #create(id: string): Circuit {
    const circuit: Circuit = {
      opening: 0,
      openUntil: undefined,
      pauseMs: PAUSE_MS / 2,
      probeUntil: 0,
      rampFrom: undefined,
      failuresInRow: 0,
      recent: [],
    };
    const [oldest] = this.#circuits.keys();
    if (oldest !== undefined && this.#circuits.size >= CIRCUITS_MAX) this.#circuits.delete(oldest);
    this.#circuits.set(id, circuit);
    return circuit;
  }

  #noteSuccess(id: string, circuit: Circuit): void {
    circuit.failuresInRow = 0;
    this.#addRecent(circuit, false);
    if (circuit.recent.every(({ isFailure }) => !isFailure)) this.#circuits.delete(id);
  }

  #noteFailure(id: string, circuit: Circuit, retryAfterMs: number): void {
    if (circuit.openUntil !== undefined) return this.#open(id, circuit, retryAfterMs);
    circuit.failuresInRow += 1;
    this.#addRecent(circuit, true);
    const failures = circuit.recent.filter(({ isFailure }) => isFailure).length;
    const isHalf = circuit.recent.length === RECENT_MAX && failures >= RECENT_MAX / 2;
    if (circuit.failuresInRow >= ROW_MAX || isHalf) this.#open(id, circuit, retryAfterMs);
  }

  #addRecent(circuit: Circuit, isFailure: boolean): void {
    const at = this.#options.clock();
    const kept = circuit.recent.filter((one) => one.at > at - RECENT_MS);
    circuit.recent = [...kept, { at, isFailure }].slice(-RECENT_MAX);
  }

  #open(id: string, circuit: Circuit, retryAfterMs: number): void {
    this.#openings += 1;
    circuit.opening = this.#openings;
    circuit.pauseMs = Math.min(circuit.pauseMs * 2, PAUSE_MS_MAX);
    const openMs = Math.max(circuit.pauseMs, Math.min(retryAfterMs, DELAY_MS_MAX));
    circuit.openUntil = this.#options.clock() + openMs;
    circuit.probeUntil = 0;
    circuit.rampFrom = undefined;
    this.#options.onChange(id, { openMs });
  }

  #close(id: string): void {
    this.#circuits.delete(id);
    this.#options.onChange(id, "closed");
  }
}
