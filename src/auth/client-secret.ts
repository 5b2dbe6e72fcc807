import type { JsonObject, RandomBytes } from "../core/index.ts";
import { issueSecret, parseSecret } from "./token.ts";

/**
 * A short-lived secret for one realtime session, to give to a browser: `ek_<id>_<secret>`. It begins like OpenAI's, whose SDK
 * for agents checks that in browsers.
 */
const PREFIX = "ek_";

/** The session that a client secret is for. */
export interface RealtimeGrant {
  type: "realtime" | "transcription";
  /** The model's id with its prefix. */
  model: string;
  /** The session in the terms of OpenAI's API, without its model. */
  session: JsonObject;
  /** When its sessions end: made by a caller with a signed token, they end with that. In milliseconds since the epoch. */
  signedUntil?: number | undefined;
}

/** A stored client secret. Times are milliseconds since the epoch. */
export interface ClientSecretRecord {
  id: string;
  secretHash: Uint8Array;
  /** The token that has created it, whose rights and limits it has. */
  tokenId: string;
  grant: RealtimeGrant;
  createdAt: number;
  /** No session starts with it from then on. */
  expiresAt: number;
}

/** The storage of client secrets; each engine implements it. */
export interface ClientSecretStore {
  insert(secret: ClientSecretRecord): Promise<void>;
  /** The secret with this id and hash; the engine compares both. */
  find(id: string, secretHash: Uint8Array): Promise<ClientSecretRecord | undefined>;
  deleteExpired(at: number): Promise<void>;
}

/** Creates a new client secret. */
export function issueClientSecret(random: RandomBytes): { id: string; value: string; secretHash: Uint8Array } {
  const { id, text, secretHash } = issueSecret(PREFIX, random);
  return { id, value: text, secretHash };
}

/** Splits a presented client secret into id and secret; undefined if it doesn't have the form of ours. */
export function parseClientSecret(text: string): { id: string; secret: string } | undefined {
  return parseSecret(PREFIX, text);
}
