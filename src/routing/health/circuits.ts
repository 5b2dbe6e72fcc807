/**
 * Targets that fail are left out for a while, so that calls with several targets do not wait for them again and again, and
 * calls with one do not repeat. One circuit for each model of a provider at its address:
 *
 *   closed ──three failures in a row, or half of the last ten in 30 s──▶ open, for 5 s
 *   open ──its pause has passed──▶ half-open: one call at a time is let through
 *   half-open ──it succeeds──▶ ramp: 10, 25, 50, then 100 % of the calls, two seconds each ──▶ closed
 *   half-open, ramp ──a failure──▶ open, for twice as long as before, up to a minute
 *
 * The outcome of a call that began before the last opening counts no longer. Calls without another target pass an open circuit:
 * their success counts, and their failure extends the pause only if the upstream asks for more. Nothing is kept of a target
 * without failures.
 */
import type { Clock, RandomFraction } from "../../core/index.ts";
import { AwaitedHeads } from "./awaited-heads.ts";
import type { UpstreamRoute } from "../router.ts";

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
  /** The circuit: see `circuitIdOf`. */
  id: string;
  /** The number of openings before it, of all circuits. */
  openings: number;
  /** Whether the target's circuit is half-open: its answer decides, and must not take long. */
  isProbe: boolean;
}

/**
 * The outcome of an admitted call: the delay that the upstream asks for belongs to a failure. `none` if it is no evidence about the
 * target: it was not sent, its client has left, or the fault is the request's own.
 */
export type CircuitOutcome = "works" | "none" | { retryAfterMs: number | undefined };

/** The addresses of base URLs, without any secrets in them. */
const addresses = new Map<string, string>();

/** The id of a target's circuit: its model id with prefix, a space, and the address of the upstream. */
export function circuitIdOf({
  route,
  model = "",
}: {
  route: Pick<UpstreamRoute, "prefix" | "baseUrl">;
  model?: string;
}): string {
  let address = addresses.get(route.baseUrl);
  if (address === undefined) {
    const { host, pathname } = new URL(route.baseUrl);
    address = host + pathname;
    addresses.set(route.baseUrl, address);
  }
  return `${route.prefix}/${model} ${address}`;
}

/** The model id of a circuit's target. */
export function modelOfCircuit(id: string): string {
  return id.slice(0, id.lastIndexOf(" "));
}

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

/** A circuit as other processes must know it: until when it is open, or that its target works again. */
export type CircuitState = { openUntil: number; pauseMs: number } | "works";

export class Circuits {
  readonly #options: CircuitOptions;
  readonly #circuits = new Map<string, Circuit>();
  #openings = 0;
  /** Of streams, whose targets are left out while they give none. */
  readonly heads: AwaitedHeads;
  /** Called when a call of this process has changed a circuit. */
  onLearnt: ((id: string, state: CircuitState) => void) | undefined;

  constructor(options: CircuitOptions) {
    this.#options = options;
    this.heads = new AwaitedHeads(options.clock);
  }

  /** The number of targets that are not called as usual: their circuits are open, half-open or on their ramp. */
  get open(): number {
    let open = 0;
    for (const id of this.#circuits.keys()) if (this.#find(id)?.openUntil !== undefined) open += 1;
    return open;
  }

  /** The number of openings so far, which an outcome is noted with; zero as long as no target has failed. */
  get openings(): number {
    return this.#openings;
  }

  /** Whether the success of a call can change anything. */
  get isWatching(): boolean {
    return this.#circuits.size > 0;
  }

  /** Whether the target is left out: its circuit is open or half-open. */
  isOpen(id: string): boolean {
    const circuit = this.#find(id);
    return circuit?.openUntil !== undefined && circuit.rampFrom === undefined;
  }

  /** Lets a call to the target through; undefined if it should go to another one. */
  admit(id: string): Admission | undefined {
    const circuit = this.#find(id);
    const { openUntil, rampFrom } = circuit ?? {};
    if (circuit === undefined || openUntil === undefined)
      return this.heads.isSilent(id) ? undefined : this.#admission(id, false);
    const now = this.#options.clock();
    if (rampFrom === undefined) {
      if (now < openUntil || now < circuit.probeUntil) return undefined;
      circuit.probeUntil = now + PROBE_MS;
      return this.#admission(id, true);
    }
    const share = RAMP[Math.floor((now - rampFrom) / RAMP_STEP_MS)] ?? 1;
    return this.#options.random() < share ? this.#admission(id, false) : undefined;
  }

  /** Lets a call through whatever has happened, since there is no other target. */
  force(id: string): Admission {
    return this.admit(id) ?? this.#admission(id, false);
  }

  /** When the target may be called again, in milliseconds since the epoch; zero if now. */
  dueAt(id: string): number {
    const { openUntil = 0, probeUntil = 0, rampFrom } = this.#circuits.get(id) ?? {};
    // On its ramp it works, and only rests from some of the calls.
    return rampFrom === undefined ? Math.max(openUntil, probeUntil) : 0;
  }

  note({ id, openings, isProbe }: Admission, outcome: CircuitOutcome): void {
    const circuit = this.#find(id);
    if (outcome === "none") {
      if (isProbe && circuit !== undefined && openings >= circuit.opening) circuit.probeUntil = 0;
    } else if (outcome === "works") {
      if (circuit !== undefined && openings >= circuit.opening) this.#noteSuccess(id, circuit);
    } else {
      const failed = circuit ?? this.#create(id);
      if (openings >= failed.opening) this.#noteFailure(id, failed, Math.min(outcome.retryAfterMs ?? 0, DELAY_MS_MAX));
    }
  }

  /** Takes over a change of another process. */
  adopt(id: string, state: CircuitState): void {
    const circuit = this.#find(id);
    if (state === "works") {
      if (circuit?.openUntil !== undefined) circuit.rampFrom ??= this.#options.clock();
      return;
    }
    const openMs = Math.min(state.openUntil - this.#options.clock(), DELAY_MS_MAX);
    const openHere = circuit?.rampFrom === undefined ? (circuit?.openUntil ?? 0) : 0;
    if (openMs <= 0 || openHere >= state.openUntil) return;
    const adopted = circuit ?? this.#create(id);
    adopted.pauseMs = Math.max(adopted.pauseMs, Math.min(state.pauseMs, PAUSE_MS_MAX));
    this.#openFor(id, adopted, openMs);
  }

  /** Forgets the failures of a provider's targets: it has another address or other keys by now. */
  forget(prefix: string): void {
    for (const id of this.#circuits.keys()) if (id.startsWith(`${prefix}/`)) this.#circuits.delete(id);
  }

  #admission(id: string, isProbe: boolean): Admission {
    return { id, openings: this.#openings, isProbe };
  }

  /** The circuit of a target, closed if its ramp is over. */
  #find(id: string): Circuit | undefined {
    const circuit = this.#circuits.get(id);
    if (circuit?.rampFrom === undefined) return circuit;
    if (this.#options.clock() - circuit.rampFrom < RAMP.length * RAMP_STEP_MS) return circuit;
    // Its opening is kept: calls from before it may still fail.
    Object.assign(circuit, { ...closed(), opening: circuit.opening });
    this.#options.onChange(id, "closed");
    return circuit;
  }

  #create(id: string): Circuit {
    const circuit: Circuit = closed();
    if (this.#circuits.size >= CIRCUITS_MAX) {
      const [oldest] = this.#circuits.keys();
      const idle = [...this.#circuits].find(([, { openUntil }]) => openUntil === undefined)?.[0] ?? oldest;
      if (idle !== undefined) this.#circuits.delete(idle);
    }
    this.#circuits.set(id, circuit);
    return circuit;
  }

  #noteSuccess(id: string, circuit: Circuit): void {
    if (circuit.openUntil !== undefined) {
      if (circuit.rampFrom === undefined) this.onLearnt?.(id, "works");
      circuit.rampFrom ??= this.#options.clock();
      return;
    }
    circuit.failuresInRow = 0;
    if (circuit.recent.length > 0) this.#addRecent(circuit, false);
    if (circuit.recent.some(({ isFailure }) => isFailure)) return;
    circuit.recent = [];
    if (circuit.opening === 0) this.#circuits.delete(id);
  }

  #noteFailure(id: string, circuit: Circuit, retryAfterMs: number): void {
    const { openUntil, rampFrom } = circuit;
    if (openUntil !== undefined) {
      const now = this.#options.clock();
      if (rampFrom !== undefined || now >= openUntil) this.#open(id, circuit, retryAfterMs);
      else circuit.openUntil = Math.max(openUntil, now + retryAfterMs);
      return;
    }
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
    circuit.pauseMs = Math.min(circuit.pauseMs * 2, PAUSE_MS_MAX);
    const openUntil = this.#openFor(id, circuit, Math.max(circuit.pauseMs, retryAfterMs));
    this.onLearnt?.(id, { openUntil, pauseMs: circuit.pauseMs });
  }

  #openFor(id: string, circuit: Circuit, openMs: number): number {
    const openUntil = this.#options.clock() + openMs;
    this.#openings += 1;
    circuit.opening = this.#openings;
    circuit.openUntil = openUntil;
    circuit.probeUntil = 0;
    circuit.rampFrom = undefined;
    this.#options.onChange(id, { openMs });
    return openUntil;
  }
}

function closed(): Circuit {
  return {
    opening: 0,
    openUntil: undefined,
    pauseMs: PAUSE_MS / 2,
    probeUntil: 0,
    rampFrom: undefined,
    failuresInRow: 0,
    recent: [],
  };
}
