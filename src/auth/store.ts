import { GatewayError } from "../core/index.ts";

/** A stored token. Times are milliseconds since the epoch. */
export interface TokenRecord {
  id: string;
  secretHash: Uint8Array;
  user: string;
  /** The first account of the chain that pays for its calls. */
  accountId: string;
  /** Calls bypass the user's balance, but their cost is recorded. */
  service: boolean;
  admin: boolean;
  /** Globs of model ids that it may use; undefined for all. */
  models: readonly string[] | undefined;
  /** Globs of names of tools that it may call, those with `!` it may not; undefined for all. */
  tools?: readonly string[] | undefined;
  /** Requests per minute; undefined for no limit. */
  rpm: number | undefined;
  /** Tokens of language models per minute; undefined for no limit. */
  tpm: number | undefined;
  /** Simultaneous calls; undefined for no limit. */
  concurrency: number | undefined;
  expiresAt: number | undefined;
  revokedAt: number | undefined;
  createdAt: number;
  /** The markup of its organisation, in millionths, as found with the token; undefined for the configuration's. */
  markup?: number | undefined;
}

/** Why a token may no longer be used (401); undefined if it may. */
export function refusalOf({ revokedAt, expiresAt }: TokenRecord, at: number): GatewayError | undefined {
  if (revokedAt !== undefined) return new GatewayError("token_revoked", "The token has been revoked.");
  if (expiresAt !== undefined && expiresAt <= at) return new GatewayError("token_expired", "The token has expired.");
  return undefined;
}

/** The storage of tokens; each engine implements it. */
export interface TokenStore {
  insert(token: TokenRecord): Promise<void>;
  /**
   * The token with this id and hash. The engine compares both, so that the time of an answer does not reveal whether an
   * id exists.
   */
  find(id: string, secretHash: Uint8Array): Promise<TokenRecord | undefined>;
  /** The token with this id, for a secret that was created with it. */
  findById(id: string): Promise<TokenRecord | undefined>;
  /** The tokens with these ids, in any order, without their markups. */
  findAll(ids: readonly string[]): Promise<TokenRecord[]>;
  /** All tokens, oldest first. */
  list(): Promise<TokenRecord[]>;
  /** Returns whether the token exists. Revoking it again does not change the time of its revocation. */
  revoke(id: string, at: number): Promise<boolean>;
}
