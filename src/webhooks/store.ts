import type { Steps } from "../storage/index.ts";

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

/** The storage of the secrets. They are changed within an act, which the audit log writes down. */
export interface WebhookSecretStore {
  find(owner: string): Promise<StoredSecrets | undefined>;
  /** Returns false, and changes nothing, if the user has a secret. */
  insert(secret: NewSecret): Steps<boolean>;
  /**
   * Replaces the secret, which stays the previous one until then. Returns false if the user has none, or has replaced it after
   * `notAfter`.
   */
  rotate(secret: NewSecret, times: { previousUntil: number; notAfter: number }): Steps<boolean>;
}
