/** The open sessions of all processes, for operators. */
import type { ActOptions, AuditLog } from "../../audit/index.ts";
import type { Clock } from "../../core/index.ts";
import type { Storage } from "../../storage/index.ts";
import { OPEN_MS_MAX } from "./open-sessions.ts";
import { openSessionStore } from "./sql/open.ts";
import type { ListedRealtimeSession, RealtimeSessionPage, SessionStore } from "./store.ts";

interface DirectoryOptions {
  storage: Storage;
  log: AuditLog;
  clock: Clock;
}

export class SessionDirectory {
  readonly #store: SessionStore;
  readonly #log: AuditLog;
  readonly #clock: Clock;

  constructor({ storage, log, clock }: DirectoryOptions) {
    this.#store = openSessionStore(storage);
    this.#log = log;
    this.#clock = clock;
  }

  /** By id. */
  list(page: RealtimeSessionPage): Promise<ListedRealtimeSession[]> {
    return this.#store.list(this.#clock() - OPEN_MS_MAX, page);
  }

  /**
   * Asks the process of a session to end it, which it does within about a second. Resolves with the session, undefined if none has
   * this id. A second request for one changes nothing.
   */
  end(id: string, options: ActOptions): Promise<ListedRealtimeSession | undefined> {
    const store = this.#store;
    const now = this.#clock();
    return this.#log.act(options, function* (note) {
      const found = yield* store.find(id, now - OPEN_MS_MAX);
      if (found === undefined || found.endAskedAt !== undefined) return found;
      yield* store.askEnd(id, now);
      const { type, model, owner, tokenId, node } = found;
      const before = { type, model, owner, token_id: tokenId, node };
      note({ act: "realtime_session.end", target: `realtime_session:${id}`, before });
      return { ...found, endAskedAt: now };
    });
  }

  /** Deletes the rows of processes that have died. */
  deleteLost(): Promise<void> {
    return this.#store.deleteBefore(this.#clock() - 2 * OPEN_MS_MAX);
  }
}
