/** A token as it is stored. Times are milliseconds since the epoch. */
export interface TokenRecord {
  id: string;
  secretHash: Uint8Array;
  user: string;
  /** The first account of the chain that pays for its calls. */
  accountId: string;
  /** Bypasses the user's balance; its spend is recorded all the same. */
  service: boolean;
  admin: boolean;
  /** Globs of model ids that it may use; undefined for all. */
  models: readonly string[] | undefined;
  /** Requests a minute; undefined for no limit. */
  rpm: number | undefined;
  /** Tokens of language models a minute; undefined for no limit. */
  tpm: number | undefined;
  /** Calls at the same time; undefined for no limit. */
  concurrency: number | undefined;
  expiresAt: number | undefined;
  revokedAt: number | undefined;
  createdAt: number;
}

/** What auth needs from a storage engine. */
export interface TokenStore {
  insert(token: TokenRecord): Promise<void>;
  find(id: string): Promise<TokenRecord | undefined>;
  /** Oldest first. */
  list(): Promise<TokenRecord[]>;
  /** Whether there was such a token; revoking twice keeps the first moment. */
  revoke(id: string, at: number): Promise<boolean>;
}
