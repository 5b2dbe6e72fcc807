/** The encrypted secrets of a user. */
export interface StoredSecrets {
  secret: string;
  /** The one before the last rotation; it signs until `previousUntil`. */
  previous: { secret: string; until: number } | undefined;
  /** When the current secret was made. */
  madeAt: number;
}

export interface NewSecret {
  owner: string;
  secret: string;
  madeAt: number;
}

/** The storage of the secrets. Each write is one durable commit. */
export interface WebhookSecretStore {
  find(owner: string): Promise<StoredSecrets | undefined>;
  /** Resolves with false, and changes nothing, if the user has a secret. */
  insert(secret: NewSecret): Promise<boolean>;
  /** Replaces the secret, which stays the previous one until then. Resolves with false if the user has none. */
  rotate(secret: NewSecret, previousUntil: number): Promise<boolean>;
}
