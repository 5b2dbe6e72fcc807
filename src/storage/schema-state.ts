import { StorageError } from "./database.ts";
import type { EngineStep } from "./schema.ts";

/** The schema of a storage, which another version may have made. */
export interface SchemaState {
  /** The number of steps that it has taken. */
  version: number;
  /** The number of the oldest step whose versions can work on it. */
  oldest: number;
}

/** The state after all of these steps. */
export function stateAfter(steps: readonly EngineStep[]): SchemaState {
  return { version: steps.length, oldest: Math.max(0, ...steps.map(({ oldest }) => oldest)) };
}

/**
 * The steps that a storage lacks. A schema that is newer than this code, and not for versions as old, stops the start: this version
 * must not write to it.
 */
export function missingSteps(steps: readonly EngineStep[], { version, oldest }: SchemaState): readonly EngineStep[] {
  if (oldest > steps.length) {
    throw new StorageError(
      `storage: its schema is version ${version}, this Tollgate knows ${steps.length}; use a newer Tollgate`,
    );
  }
  return steps.slice(version);
}

/** What a start would change in one database or file. */
export interface SchemaPlan {
  /** Its place, without a password. */
  place: string;
  /** As it is. */
  now: SchemaState;
  /** With the missing steps. */
  after: SchemaState;
  missing: readonly EngineStep[];
}

export function planOf(place: string, steps: readonly EngineStep[], now: SchemaState): SchemaPlan {
  const missing = missingSteps(steps, now);
  return { place, now, after: missing.length === 0 ? now : stateAfter(steps), missing };
}
