import type { JsonObject } from "../core/index.ts";

/** The error for a request while another response runs in the conversation; it need not name the event. */
const ALREADY_RUNNING = "conversation_already_has_active_response";

/** Requests whose ids are remembered, to recognize the error that refuses one. */
const REQUEST_IDS_MAX = 1_000;

/** Responses that the client has asked for and the upstream has not begun. */
export class ResponseRequests {
  #open = 0;
  readonly #eventIds = new Set<string>();

  get open(): number {
    return this.#open;
  }

  asked(eventId: unknown): void {
    this.#open += 1;
    if (typeof eventId === "string" && this.#eventIds.size < REQUEST_IDS_MAX) this.#eventIds.add(eventId);
  }

  begun(): void {
    this.#open = Math.max(this.#open - 1, 0);
  }

  /** The upstream has refused an event. Only if that was a request for a response, nothing needs to be held for it. */
  refused({ code, event_id: id }: JsonObject): void {
    const isRequest = code === ALREADY_RUNNING || (typeof id === "string" && this.#eventIds.has(id));
    if (!isRequest) return;
    if (typeof id === "string") this.#eventIds.delete(id);
    this.begun();
  }
}
