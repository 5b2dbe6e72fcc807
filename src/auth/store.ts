import { GatewayError, type Role } from "../core/index.ts";
import { projectOf } from "./owner.ts";

/** The limits of all tokens of a holder, or of one token. Times are milliseconds since the epoch. */
export interface Policy {
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
}

/** A stored token. */
export interface TokenRecord extends Policy {
  id: string;
  secretHash: Uint8Array;
  /** The id of its user, or the owner that its project is: see `ownerOfProject`. */
  user: string;
  /** The first account of the chain that pays for its calls. */
  accountId: string;
  /** Calls bypass the user's balance, but their cost is recorded. */
  service: boolean;
  /** A lesser one than its user's; undefined for that. */
  role: Role | undefined;
  name: string | undefined;
  /** Values by keys; its calls have those of keys that are tags of the organisation. */
  metadata?: Readonly<Record<string, string>> | undefined;
  revokedAt: number | undefined;
  createdAt: number;
  pausedAt: number | undefined;
  /** Of the secret before the last rotation. */
  previousHash: Uint8Array | undefined;
  /** Until when that secret may still be used. */
  previousUntil: number | undefined;
  /** The actor; undefined of tokens of an older version. */
  madeBy: string | undefined;
  /** Counts the changes. */
  version: number;
  /** Of a token that stands for a browser's session: the token that it was begun with. Nobody has its own secret. */
  sessionOf?: string | undefined;
}

/** A token with its user or project, and the organisation of that. */
export interface FoundToken extends TokenRecord {
  /** Undefined if there is neither a user nor a project. */
  userName: string | undefined;
  userRole: Role | undefined;
  userDisabledAt: number | undefined;
  organisation: string | undefined;
  organisationDisabledAt: number | undefined;
  /** The markup of its organisation, in millionths; undefined for the configuration's. */
  markup: number | undefined;
  /** The keys of its organisation's tags, sorted. */
  tags?: readonly string[] | undefined;
  /** The policies of its user or project, and of the organisation; undefined if neither limits anything. */
  above?: readonly Policy[] | undefined;
}

/** Why a token may not be used (401); undefined if it may. */
export function refusalOf(token: FoundToken, at: number): GatewayError | undefined {
  const { revokedAt, expiresAt, pausedAt, userDisabledAt, organisationDisabledAt, above } = token;
  if (revokedAt !== undefined) return new GatewayError("token_revoked", "The token has been revoked.");
  if (expiresAt !== undefined && expiresAt <= at) return new GatewayError("token_expired", "The token has expired.");
  if (pausedAt !== undefined) return new GatewayError("token_paused", "The token is paused.");
  if (userDisabledAt !== undefined && projectOf(token.user) !== undefined)
    return new GatewayError("project_disabled", "The token's project is disabled.");
  if (userDisabledAt !== undefined) return new GatewayError("user_disabled", "The token's user is disabled.");
  if (above?.some((policy) => policy.expiresAt !== undefined && policy.expiresAt <= at) === true)
    return new GatewayError(
      "token_expired",
      "The access of the token's user or project, or of the organisation, has expired.",
    );
  if (organisationDisabledAt === undefined) return undefined;
  return new GatewayError("organisation_disabled", "The organisation of the token's user or project is disabled.");
}

/** The storage of tokens; each engine implements it. */
export interface TokenStore {
  insert(token: TokenRecord): Promise<void>;
  /**
   * The token with this id and hash, or with this hash of the secret before. The engine compares both, so that the time of an answer
   * does not reveal whether an id exists.
   */
  find(id: string, secretHash: Uint8Array): Promise<FoundToken | undefined>;
  /** The token with this id, for a secret that was created with it. */
  findById(id: string): Promise<FoundToken | undefined>;
  /** The tokens with these ids, in any order. */
  findAll(ids: readonly string[]): Promise<FoundToken[]>;
  /** All tokens but those of browsers' sessions, oldest first. */
  list(): Promise<FoundToken[]>;
  /** Returns whether the token exists. Revoking it again does not change the time of its revocation. */
  revoke(id: string, at: number): Promise<boolean>;
}
