/** A response that may be looked up and continued. */
export interface StoredResponse {
  id: string;
  /** The name of its user. */
  owner: string;
  /** The prefix of the provider that made it. */
  provider: string;
  /** The provider's name of the model. */
  model: string;
  createdAt: number;
  /** When it is deleted. */
  expiresAt: number;
  /** The response that it continues. */
  previousId: string | undefined;
  /** Undefined if the upstream stores it. */
  content: ResponseContent | undefined;
  /** A short hash of the API key that made it: the provider may know the response under this key only. */
  keyId: string | undefined;
}

/** The stored content of a response whose upstream stores none. */
interface ResponseContent {
  /** The items that this call added, without those of the responses before it; JSON text of a list. */
  input: string;
  /** The response as sent to the client; JSON text of an object. */
  response: string;
}

/**
 * The interface of the responses' storage. Every request includes the owner: another user's response is never found.
 */
export interface ResponseStore {
  /** Durable when it resolves. */
  put(response: StoredResponse): Promise<void>;
  find(id: string, owner: string, at: number): Promise<StoredResponse | undefined>;
  /**
   * The response and those that it continues, oldest first; ends early if one of them no longer exists, or if they
   * exceed `expandedRoundsMax` or `expandedBytesMax`.
   */
  chain(id: string, owner: string, at: number): Promise<StoredResponse[]>;
  /** Whether the response existed. */
  remove(id: string, owner: string): Promise<boolean>;
  /** Deletes expired responses, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}
