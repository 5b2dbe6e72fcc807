/** The state of a client's session, as JSON. */
export interface StoredSession {
  id: string;
  /** The token that began it. */
  owner: string;
  state: string;
  changedAt: number;
}

export interface ClientSessionStore {
  find(id: string): Promise<StoredSession | undefined>;
  /** Changes the state of one, in one commit. `change` gets an empty text if there is none so far. */
  change(
    session: Omit<StoredSession, "state">,
    change: (state: string) => string,
    bounds: { before: number; perOwner: number },
  ): Promise<void>;
  delete(id: string): Promise<void>;
}
