/** The outside world, injected so that a test can hold the clock still and a run can be replayed from a seed. */

import type { AskUpstream } from "./upstream.ts";

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** `size` bytes from a cryptographic source. */
export type RandomBytes = (size: number) => Uint8Array;

/** Evenly spread in [0, 1): for jitter, never for secrets. */
export type RandomFraction = () => number;

/** For what is asked seldom: listings, and whether an upstream is there at all. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Everything of the outside world that the pipeline uses. */
export interface Environment {
  clock: Clock;
  randomBytes: RandomBytes;
  randomFraction: RandomFraction;
  fetch: Fetch;
  /** The way out of every call. */
  ask: AskUpstream;
}
