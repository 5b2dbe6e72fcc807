/** A response that may be looked up and continued. */
export interface StoredResponse {
  id: string;
  /** The user whose it is. */
  owner: string;
  /** The prefix of the provider that made it. */
  provider: string;
  /** The model's name there. */
  model: string;
  createdAt: number;
  /** Forgotten then. */
  expiresAt: number;
  /** The response that it continues. */
  previousId: string | undefined;
  /** Undefined where the upstream keeps it. */
  content: ResponseContent | undefined;
  /** A short hash of the API key that made it: a provider may know the response under this key only. */
  keyId: string | undefined;
}

/** What is kept of a response whose upstream keeps none. */
interface ResponseContent {
  /** The items that this call put in, without those of the responses before it; JSON text of a list. */
  input: string;
  /** The response as the client got it; JSON text of an object. */
  response: string;
}

/** What responses need from a storage engine. Everything is asked for with its owner: another's is never found. */
export interface ResponseStore {
  /** Durable when it resolves. */
  put(response: StoredResponse): Promise<void>;
  find(id: string, owner: string, at: number): Promise<StoredResponse | undefined>;
  /**
   * The response and those that it continues, oldest first; ends early where one of them is not there any more, or where
   * they grow beyond `expandedRoundsMax` or `expandedBytesMax`.
   */
  chain(id: string, owner: string, at: number): Promise<StoredResponse[]>;
  /** Whether there was such a response. */
  remove(id: string, owner: string): Promise<boolean>;
  /** Forgets what is kept no longer, a bounded number at a time. */
  forget(at: number): Promise<void>;
}
