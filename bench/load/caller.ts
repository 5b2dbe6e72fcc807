import { Connection } from "./connection.ts";
import type { ConnectionOwner } from "./connection.ts";
import type { CallerGroup } from "./protocol.ts";

/** The place for callers' measurements. */
export interface CallerLog {
  completed(milliseconds: number, firstEventMilliseconds: number | null): void;
  hungUp(): void;
  reconnected(): void;
  failed(problem: string): void;
  /** False when the time is over, or too much went wrong to go on. */
  readonly goesOn: boolean;
}

/** Prevents a million requests to a server that refuses everything. */
const pauseAfterProblemMs = 10;

/**
 * Sends one request after the other on one keep-alive connection for as long as the log permits; it can run again then.
 */
export class Caller implements ConnectionOwner {
  readonly #port: number;
  readonly #group: CallerGroup;
  readonly #request: Buffer;
  readonly #log: CallerLog;
  #ended = Promise.withResolvers<void>();
  #connection: Connection | null = null;

  constructor(port: number, group: CallerGroup, request: Buffer, log: CallerLog) {
    this.#port = port;
    this.#group = group;
    this.#request = request;
    this.#log = log;
  }

  async connect(): Promise<void> {
    try {
      this.#connection = await Connection.open(this.#port, this.#group.expectation, this);
    } catch (error) {
      this.#log.failed(String(error));
    }
  }

  /** Resolves when the caller's last answer has ended. The connection stays open. */
  run(): Promise<void> {
    this.#ended = Promise.withResolvers<void>();
    this.#next();
    return this.#ended.promise;
  }

  /** Gives an answer that is still under way up as a failure. */
  giveUp(): void {
    this.#log.failed("no end of the answer when the time was over");
    this.hangUp();
    this.#ended.resolve();
  }

  hangUp(): void {
    this.#connection?.hangUp();
  }

  eventsSeen(connection: Connection, events: number): void {
    const limit = this.#group.hangUpAfterEvents;
    if (limit === null || events < limit) return;
    connection.hangUp();
    this.#log.hungUp();
    this.#after(this.#group.pauseMs);
  }

  answered(connection: Connection, problem: string | null): void {
    const now = performance.now();
    if (problem !== null) {
      this.#log.failed(problem);
      this.#after(pauseAfterProblemMs);
      return;
    }
    const firstEvent = connection.firstEventAt === 0 ? null : connection.firstEventAt - connection.startedAt;
    this.#log.completed(now - connection.startedAt, firstEvent);
    if (this.#group.pauseMs > 0) this.#after(this.#group.pauseMs);
    else this.#next();
  }

  closed(_connection: Connection, problem: string | null): void {
    // A connection that idles may be closed by the server at any time: the next request opens a new one.
    if (problem === null) return;
    this.#log.failed(problem);
    this.#after(pauseAfterProblemMs);
  }

  #after(milliseconds: number): void {
    setTimeout(() => this.#next(), milliseconds);
  }

  #next(): void {
    if (!this.#log.goesOn) this.#ended.resolve();
    else if (this.#connection?.isOpen === true) this.#connection.send(this.#request);
    else void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    await this.connect();
    if (this.#connection?.isOpen !== true) {
      this.#after(pauseAfterProblemMs);
      return;
    }
    this.#log.reconnected();
    this.#next();
  }
}
