/** Access to the outside world, injected so that a test can control the clock and replay a run from a seed. */

import type { OpenUpstreamSocket } from "./sockets/upstream-socket.ts";
import type { AskUpstream } from "./upstream.ts";

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** Calls back at an interval in milliseconds, until the returned function is called. */
export type Every = (milliseconds: number, onDue: () => void) => () => void;

/** By a timer that keeps no process alive. */
export const everyUnref: Every = (milliseconds, onDue) => {
  const timer = setInterval(onDue, milliseconds);
  timer.unref();
  return () => clearInterval(timer);
};

/** `size` bytes from a cryptographic source. */
export type RandomBytes = (size: number) => Uint8Array;

/** Evenly spread in [0, 1): for jitter, never for secrets. */
export type RandomFraction = () => number;

/** For rare requests: listings of models, and checks whether an upstream can be reached. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** All access to the outside world that the pipeline needs. */
export interface Environment {
  clock: Clock;
  randomBytes: RandomBytes;
  randomFraction: RandomFraction;
  fetch: Fetch;
  /** Sends the request of every call. */
  ask: AskUpstream;
  /** Opens the WebSocket of every session. */
  openSocket: OpenUpstreamSocket;
}
