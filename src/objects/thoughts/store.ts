/** A sealed thought, by the hash of its call. */
export interface SealedThought {
  id: string;
  sealed: Uint8Array;
}

/** The interface of the storage of sealed thoughts. */
export interface ThoughtStore {
  /** Durable when it resolves. Replaces those with the same ids. `keptUntil`: milliseconds since the epoch. */
  put(thoughts: readonly SealedThought[], keptUntil: number): Promise<void>;
  find(ids: readonly string[], at: number): Promise<SealedThought[]>;
  /** Deletes all expired ones, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}
