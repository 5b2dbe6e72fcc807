import type { RefusedKey } from "../key-pool.ts";

/** A key of a provider, and the operation that it is refused for; for all of them without one. Two providers may have the same key. */
export function sharedKeyId(
  prefix: string,
  { keyId, operation }: Pick<RefusedKey, "keyId"> & Partial<RefusedKey>,
): string {
  return [prefix, keyId, ...(operation === undefined ? [] : [operation])].join(" ");
}

/** The parts of such an id: neither has a space in it. */
export function readSharedKeyId(id: string): { prefix: string; keyId: string; operation?: string } {
  const [prefix = "", keyId = "", operation] = id.split(" ");
  return { prefix, keyId, ...(operation !== undefined && { operation }) };
}

/** A change of a target's circuit or of a key, as one process reports it to the others. */
export interface TargetState {
  /** That of the circuit, or of the key: see `sharedKeyId`. */
  id: string;
  /** `open` and `works` of a circuit, `refused` and `repaired` of a key. */
  kind: "open" | "works" | "refused" | "repaired";
  /** Of an open circuit, in milliseconds since the epoch; else zero. */
  openUntil: number;
  /** The pause that is doubled when it opens again; zero unless it is open. */
  pauseMs: number;
  /** The process that has learnt it. */
  process: string;
  /** In milliseconds since the epoch. */
  changedAt: number;
}

/** The operator has disabled a provider, or one of its models. */
export interface TargetOverride {
  /** The provider's prefix, or the model id with it. */
  target: string;
  /** In milliseconds since the epoch; undefined if it does not expire. */
  until: number | undefined;
  reason: string | undefined;
  /** Who has made it. */
  actor: string;
  createdAt: number;
}

export interface TargetStore {
  /** Replaces the last change of this id. */
  putState(state: TargetState): Promise<void>;
  /** Those from this time on, the oldest first. */
  statesSince(changedAt: number): Promise<TargetState[]>;
  /** Of refused keys they are kept until the keys work. */
  removeStatesBefore(changedAt: number): Promise<void>;
  /** Those that have not expired by this time, by target. */
  overrides(now: number): Promise<TargetOverride[]>;
}
