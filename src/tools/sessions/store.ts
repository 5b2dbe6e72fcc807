/** The state of a client's session, as JSON. */
export interface StoredSession {
  id: string;
  /** The token that began it. */
  owner: string;
  state: string;
  changedAt: number;
}

/** The state of a session that its client has ended. */
export const ENDED_STATE = '{"isEnded":true}';

export interface ClientSessionStore {
  find(id: string): Promise<StoredSession | undefined>;
  /**
   * Changes the state of one, in one commit. `change` gets an empty text if there is none so far. Deletes those that were not changed since
   * `before`, and of an owner's ended ones, or of the others, the oldest beyond `perOwner`.
   */
  change(
    session: Omit<StoredSession, "state">,
    change: (state: string) => string,
    bounds: { before: number; perOwner: number },
  ): Promise<void>;
}
