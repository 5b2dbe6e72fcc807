import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import type { JsonObject } from "../json.ts";

/** Above this, events wait for the client to read. */
const queuedBytesMax = 1024 * 1024;
const queueWaitMs = 5;

/** Sends the events of a session, each with an id. */
export class Outgoing {
  readonly #socket: WebSocket;
  #events = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  send(type: string, members: JsonObject = {}): void {
    if (!this.isOpen) return;
    this.#events += 1;
    this.#socket.send(JSON.stringify({ type, event_id: `event_${this.#events}`, ...members }));
  }

  error(code: string, message: string, eventId: unknown, param: string | null = null): void {
    const type = "invalid_request_error";
    const error = { type, code, message, param, event_id: typeof eventId === "string" ? eventId : null };
    this.send("error", { error });
  }

  /** A turn of the event loop, longer if the client does not read. */
  async breathe(pauseMs: number): Promise<void> {
    if (pauseMs > 0) await sleep(pauseMs);
    else await nextTurn();
    while (this.isOpen && this.#socket.bufferedAmount > queuedBytesMax) await sleep(queueWaitMs);
  }

  cut(): void {
    this.#socket.terminate();
  }

  close(code: number): void {
    this.#socket.close(code, "simulated");
  }
}
