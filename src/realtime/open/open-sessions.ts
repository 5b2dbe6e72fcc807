/** The open sessions of this process, which it notes in the storage, where operators see and end them. */
import { type Clock, type Every, everyUnref } from "../../core/index.ts";
import type { ListedRealtimeSession, SessionStore } from "./store.ts";

/** How often the storage is brought up to date and asked which sessions are to end: one commit, however many have begun and ended. */
const LOOK_MS = 1_000;

/** How often the process notes that it is there. */
const BEAT_MS = 5_000;

/** A session whose process was seen less long ago is open. */
export const OPEN_MS_MAX = 30_000;

/** How long the storage may take to forget the sessions of a process that stops. */
const STOP_MS_MAX = 1_000;

/** A session as its process knows it. */
type OpenSession = Omit<ListedRealtimeSession, "node" | "process" | "seenAt" | "endAskedAt">;

interface OpenSessionsOptions {
  store: Pick<SessionStore, "add" | "remove" | "beat" | "toEnd">;
  clock: Clock;
  /** The name of the process, and an id that no other has. */
  node: string;
  process: string;
  /** The storage has not been reached; called once until it is again. */
  onFailure: (thrown: unknown) => void;
  every?: Every;
}

interface Entered {
  session: OpenSession;
  end: () => void;
}

export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #open = new Map<string, Entered>();
  /** The ids in the storage, as far as is known. */
  #stored = new Set<string>();
  #beatAt = 0;
  #hasFailed = false;
  #looking: Promise<void> | undefined;
  readonly #stopTimer: () => void;

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
    this.#stopTimer = (options.every ?? everyUnref)(LOOK_MS, () => void this.look());
  }

  /** `end` is called, perhaps repeatedly, when an operator ends the session. The returned function is called when it has ended. */
  enter(session: OpenSession, end: () => void): () => void {
    this.#open.set(session.id, { session, end });
    return () => this.#open.delete(session.id);
  }

  /** Never rejects: while the storage is unavailable, sessions go on. Without sessions it asks nothing. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .then(() => (this.#hasFailed = false))
      .catch((thrown: unknown) => {
        if (!this.#hasFailed) this.#options.onFailure(thrown);
        this.#hasFailed = true;
      })
      .then(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Resolves within a second, also if the storage does not answer. */
  async stop(): Promise<void> {
    this.#stopTimer();
    await this.#looking;
    this.#open.clear();
    await Promise.race([this.look(), Bun.sleep(STOP_MS_MAX)]);
  }

  async #look(): Promise<void> {
    const { store, clock, process, node } = this.#options;
    if (this.#open.size === 0 && this.#stored.size === 0) return;
    const now = clock();
    if (now - this.#beatAt >= BEAT_MS) {
      // Rows that were deleted meanwhile, as those of a process that was not seen for long, are added again.
      this.#stored = new Set(await store.beat(process, now));
      this.#beatAt = now;
    }
    const ended = [...this.#stored].filter((id) => !this.#open.has(id));
    if (ended.length > 0) await store.remove(ended);
    for (const id of ended) this.#stored.delete(id);
    const begun = [...this.#open.values()].flatMap(({ session }) => (this.#stored.has(session.id) ? [] : [session]));
    if (begun.length > 0)
      await store.add(begun.map((each) => ({ ...each, node, process, seenAt: now, endAskedAt: undefined })));
    for (const { id } of begun) this.#stored.add(id);
    if (this.#open.size === 0) return;
    for (const id of await store.toEnd(process)) this.#open.get(id)?.end();
  }
}
