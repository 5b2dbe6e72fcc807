/**
 * Sessions at a server of 2025 that belong to one client each: the server learns which questions this client takes, and may ask on the stream
 * of the session too. A session ends a while after the client's last request, or after one whose answer was not waited for.
 */
import type { Ticker } from "../../streaming/index.ts";
import type { ServerWire } from "./server-wire.ts";
import { type AskedClient, hasId, type ServerSession } from "./session.ts";
import { type ChangeListeners, SessionStream } from "./session-stream.ts";

/** Of all clients, and of those with one token. Further ones are asked on the streams of their requests alone. */
const SESSIONS_MAX = 1_000;
const PER_OWNER_MAX = 100;

const IDLE_MS = 60_000;

interface ClientSessionsOptions {
  wire: ServerWire;
  ticker: Ticker;
  listening: ChangeListeners;
  /** Begins a session of a client. */
  begin: (client: AskedClient) => Promise<ServerSession>;
}

interface OwnSession extends ServerSession {
  stream: SessionStream;
}

export class ClientSessions {
  readonly #options: ClientSessionsOptions;
  readonly #sessions = new Map<string, Promise<OwnSession | undefined>>();
  #hasNone = false;

  constructor(options: ClientSessionsOptions) {
    this.#options = options;
  }

  /** Undefined if the server has no sessions, or there are too many. Rejects as `begin` does. */
  async of(client: AskedClient): Promise<ServerSession | undefined> {
    const { owner, session: own } = client.client;
    const key = JSON.stringify([owner, own, client.capabilities]);
    const known = this.#sessions.get(key);
    if (known === undefined && (this.#hasNone || this.#isFull(owner))) return undefined;
    const opening = known ?? this.#open(key, client);
    const session = await opening;
    if (session?.stream.isDoubtful === true) {
      this.#forget(key, opening);
      return this.of(client);
    }
    await session?.stream.begin();
    return session;
  }

  /** The server does not know the session any more. */
  async forget(gone: ServerSession): Promise<void> {
    for (const [key, opening] of this.#sessions)
      if ((await opening.catch(() => undefined)) === gone) this.#forget(key, opening);
  }

  /** Other resources are wanted. */
  async subscribe(): Promise<void> {
    for (const opening of this.#sessions.values()) (await opening.catch(() => undefined))?.stream.subscribe();
  }

  #isFull(owner: string): boolean {
    if (this.#sessions.size >= SESSIONS_MAX) return true;
    const start = JSON.stringify([owner]).slice(0, -1);
    return (
      this.#sessions
        .keys()
        .filter((key) => key.startsWith(`${start},`))
        .take(PER_OWNER_MAX)
        .toArray().length >= PER_OWNER_MAX
    );
  }

  #open(key: string, client: AskedClient): Promise<OwnSession | undefined> {
    const opening = this.#begin(client);
    this.#sessions.set(key, opening);
    void this.#keep(key, opening).catch(() => this.#forget(key, opening));
    return opening;
  }

  async #keep(key: string, opening: Promise<OwnSession | undefined>): Promise<void> {
    const session = await opening;
    if (session === undefined) this.#forget(key, opening);
    else this.#endLater(key, session, opening);
  }

  async #begin(client: AskedClient): Promise<OwnSession | undefined> {
    const { begin, wire, ticker, listening } = this.#options;
    const session = await begin(client);
    // Without an id, the server could ask nothing.
    this.#hasNone = !hasId(session);
    return this.#hasNone ? undefined : { ...session, stream: new SessionStream({ wire, ticker, session, listening }) };
  }

  #forget(key: string, opening: Promise<unknown>): void {
    if (this.#sessions.get(key) === opening) this.#sessions.delete(key);
  }

  #endLater(key: string, session: OwnSession, opening: Promise<unknown>): void {
    const { ticker, wire } = this.#options;
    ticker.after(IDLE_MS, () => {
      if (!session.stream.isIdle()) return this.#endLater(key, session, opening);
      this.#forget(key, opening);
      session.stream.end();
      void wire.end(session).catch(() => undefined);
    });
  }
}
