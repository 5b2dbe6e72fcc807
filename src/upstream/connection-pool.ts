import type { Clock } from "../core/index.ts";
import type { Connection, ConnectionOwner } from "./connection.ts";

export interface PoolOptions {
  clock: Clock;
  /** Per origin. */
  connectionsMax: number;
  idleMsMax: number;
}

/**
 * An upstream with this keep-alive time closes the connection at its end: a request must not be sent at the same
 * moment.
 */
const CLOSING_MARGIN_MS = 1_000;

/** Idle connections. The most recently used one is reused first; the others expire. */
export class ConnectionPool implements ConnectionOwner {
  readonly #options: PoolOptions;
  readonly #idle = new Map<string, Connection[]>();
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  take(origin: string): Connection | undefined {
    const kept = this.#idle.get(origin);
    if (kept === undefined) return undefined;
    const now = this.#options.clock();
    for (let connection = kept.pop(); connection !== undefined; connection = kept.pop()) {
      if (connection.idleUntil > now) return connection;
      connection.close();
    }
    return undefined;
  }

  release(connection: Connection): void {
    const { clock, connectionsMax, idleMsMax } = this.#options;
    const idleMs = Math.min(idleMsMax, (connection.keepAliveMs ?? Number.POSITIVE_INFINITY) - CLOSING_MARGIN_MS);
    const kept = this.#idleOf(connection.origin);
    if (this.#isClosed || idleMs <= 0 || kept.length >= connectionsMax) {
      connection.close();
      return;
    }
    connection.idleUntil = clock() + idleMs;
    kept.push(connection);
    this.#timer ??= this.#startTimer();
  }

  forget(connection: Connection): void {
    const kept = this.#idle.get(connection.origin);
    const index = kept?.indexOf(connection) ?? -1;
    if (index !== -1) kept?.splice(index, 1);
  }

  /** Closes idle connections, and keeps none from now on. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const kept of this.#idle.values()) for (const connection of kept) connection.close();
    this.#idle.clear();
  }

  #idleOf(origin: string): Connection[] {
    const known = this.#idle.get(origin);
    if (known !== undefined) return known;
    const kept: Connection[] = [];
    this.#idle.set(origin, kept);
    return kept;
  }

  #startTimer(): Timer {
    return setTimeout(() => this.#prune(), this.#options.idleMsMax).unref();
  }

  #prune(): void {
    const now = this.#options.clock();
    for (const [origin, kept] of this.#idle) {
      const rest = kept.filter(({ idleUntil }) => idleUntil > now);
      for (const connection of kept) if (connection.idleUntil <= now) connection.close();
      if (rest.length === 0) this.#idle.delete(origin);
      else this.#idle.set(origin, rest);
    }
    this.#timer = this.#idle.size === 0 ? null : this.#startTimer();
  }
}
