import { type Clock, listOf, objectsOf, parseObject, stringOf } from "../../core/index.ts";
import { freshState, logLevelOf, RpcError, rpcCodes, type SessionState, type SessionStates } from "../../mcp/index.ts";
import { RecentMap } from "../recent-map.ts";
import { type ClientSessionStore, ENDED_STATE, type StoredSession } from "./store.ts";

/** Sessions that are remembered. */
const KNOWN_MAX = 10_000;

/** JSON of a state. Ordinary sessions are subscribed to few resources. */
const STATE_CHARACTERS_MAX = 16 * 1024;

/**
 * The state of a session that was not changed for so long is forgotten, and that of a token's oldest beyond this number. As many ended ones are
 * remembered beside them.
 */
const UNCHANGED_MS_MAX = 24 * 60 * 60_000;
const PER_OWNER_MAX = 1_000;

interface StoredStatesOptions {
  store: ClientSessionStore;
  clock: Clock;
  /** Calls back with a session that another process may have changed; without one, any may be. */
  watch: (onChange: (session?: string) => void) => () => void;
}

export class StoredSessionStates implements SessionStates {
  readonly #options: StoredStatesOptions;
  readonly #watchers = new Map<string, Set<() => void>>();
  /** Sessions that are being read, with the number of their readings. */
  readonly #reading = new Map<string, number>();
  readonly #endWatchers = new Set<(session: string) => void>();
  readonly #stop: () => void;
  #known = new RecentMap<SessionState>(KNOWN_MAX);

  constructor(options: StoredStatesOptions) {
    this.#options = options;
    this.#stop = options.watch((session) => this.#changedElsewhere(session));
  }

  known(session: string): SessionState | undefined {
    return this.#known.find(session);
  }

  async of(session: string): Promise<SessionState> {
    return this.#known.find(session) ?? (await this.#load(session));
  }

  begin(session: string): void {
    this.#known.set(session, freshState);
  }

  async change(session: string, owner: string, change: (state: SessionState) => SessionState): Promise<void> {
    const changed = (text: string): string => bounded(JSON.stringify(change(stateIn(text))));
    await this.#write(session, owner, (text) => (text === ENDED_STATE ? text : changed(text)));
  }

  async end(session: string, owner: string): Promise<void> {
    await this.#write(session, owner, () => ENDED_STATE);
  }

  onEnd(callback: (session: string) => void): void {
    this.#endWatchers.add(callback);
  }

  async #write(session: string, owner: string, change: (text: string) => string): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock();
    const bounds = { before: now - UNCHANGED_MS_MAX, perOwner: PER_OWNER_MAX };
    await store.change({ id: session, owner, changedAt: now }, change, bounds);
    await this.#load(session);
  }

  watch(session: string, onChange: () => void): () => void {
    const own = this.#watchers.get(session) ?? new Set();
    this.#watchers.set(session, own.add(onChange));
    return () => {
      own.delete(onChange);
      if (own.size === 0 && this.#watchers.get(session) === own) this.#watchers.delete(session);
    };
  }

  stop(): void {
    this.#stop();
  }

  async #load(session: string): Promise<SessionState> {
    const turn = (this.#reading.get(session) ?? 0) + 1;
    this.#reading.set(session, turn);
    let state: SessionState;
    try {
      state = stateOf(await this.#options.store.find(session));
    } finally {
      if (this.#reading.get(session) === turn) this.#reading.delete(session);
    }
    // A later reading knows better.
    if (this.#reading.has(session)) return state;
    const isNews = state.isEnded && this.#known.find(session)?.isEnded !== true;
    this.#known.set(session, state);
    for (const onEnd of isNews ? this.#endWatchers : []) onEnd(session);
    for (const onChange of this.#watchers.get(session) ?? []) onChange();
    return state;
  }

  #concerns(session: string): boolean {
    return this.#known.find(session) !== undefined || this.#reading.has(session) || this.#watchers.has(session);
  }

  #changedElsewhere(session: string | undefined): void {
    // Sessions of clients of other nodes are no concern of this one, unless they have come here too.
    if (session !== undefined && !this.#concerns(session)) return;
    // If it can't be read, the next who asks for it tries again.
    if (session !== undefined) return void this.#load(session).catch(() => this.#known.delete(session));
    this.#known = new RecentMap(KNOWN_MAX);
    for (const watchers of this.#watchers.values()) for (const onChange of watchers) onChange();
  }
}

function bounded(state: string): string {
  if (state.length > STATE_CHARACTERS_MAX)
    throw new RpcError(rpcCodes.invalidParams, "The addresses of a session's resources are too long together.");
  return state;
}

function stateOf(stored: StoredSession | undefined): SessionState {
  return stored === undefined ? freshState : stateIn(stored.state);
}

function stateIn(text: string): SessionState {
  const { level, resources, isEnded } = parseObject(text) ?? {};
  return {
    isEnded: isEnded === true,
    level: logLevelOf(level),
    resources: objectsOf(listOf(resources)).map(({ door, uri }) => ({ door: stringOf(door), uri: stringOf(uri) })),
  };
}
