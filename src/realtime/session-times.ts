import type { RealtimeDependencies } from "./realtime-dependencies.ts";

/** Silence after which the upstream is pinged, and a second one after which it is taken for dead. */
const PING_MS = 30_000;

/** Why a session must end, or what it must do now. */
export type TimeVerdict = "session_expired" | "session_idle" | "slow_consumer" | "dead" | "ping" | undefined;

/** What a session's clock says: how long it lasts, is idle, and has not heard of its upstream. */
export class SessionTimes {
  readonly #bounds: RealtimeDependencies["bounds"];
  readonly #startedAt: number;
  #activeAt: number;
  #heardAt: number;
  #pingedAt: number;
  #second = 0;
  #messagesInSecond = 0;

  constructor(bounds: RealtimeDependencies["bounds"], now: number) {
    this.#bounds = bounds;
    this.#startedAt = now;
    this.#activeAt = now;
    this.#heardAt = now;
    this.#pingedAt = now;
  }

  /** The upstream has sent something, or may send again. */
  heard(now: number): void {
    this.#heardAt = now;
  }

  /** A message has come from one of both sides. */
  active(now: number): void {
    this.#activeAt = now;
  }

  /** Counts a message of the client. Returns whether these are too many a second. */
  isTooFast(now: number): boolean {
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#messagesInSecond = 0;
    }
    this.#messagesInSecond += 1;
    return this.#messagesInSecond > this.#bounds.messagesPerSecondMax;
  }

  /** `isUpstreamRead`: what it sends would arrive. */
  judge(now: number, stalledAt: number | undefined, isUpstreamRead: boolean): TimeVerdict {
    const { sessionMsMax, idleMsMax, stalledMsMax } = this.#bounds;
    if (now - this.#startedAt >= sessionMsMax) return "session_expired";
    if (now - this.#activeAt >= idleMsMax) return "session_idle";
    if (stalledAt !== undefined && now - stalledAt >= stalledMsMax) return "slow_consumer";
    if (now - this.#heardAt >= 2 * PING_MS && isUpstreamRead) return "dead";
    if (now - Math.max(this.#heardAt, this.#pingedAt) < PING_MS) return undefined;
    this.#pingedAt = now;
    return "ping";
  }
}
