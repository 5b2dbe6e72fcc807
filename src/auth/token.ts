import { timingSafeEqual } from "node:crypto";
import { type RandomBytes, randomId } from "../core/index.ts";

/**
 * A token reads `tg_<id>_<secret>`: the id finds the row, the secret (256 random bits) proves it. Only the secret's
 * SHA-256 is stored; a hash without a stretching function is enough because nobody can guess 256 bits.
 */
const PREFIX = "tg_";
const PREFIX_CHARACTERS = 3;
const ID_CHARACTERS = 12;
const SECRET_BYTES = 32;
const HASH_BYTES = 32;
const ID_END = PREFIX_CHARACTERS + ID_CHARACTERS;
const SHAPE = /^[a-z]{2}_[0-9a-z]{12}_[A-Za-z0-9_-]{43}$/;

export interface IssuedToken {
  id: string;
  /** Shown once, never stored. */
  token: string;
  secretHash: Uint8Array;
}

/** Creates a new token, or a new secret of the token with this id. */
export function issueToken(random: RandomBytes, of?: string): IssuedToken {
  const { id, text, secretHash } = issueSecret(PREFIX, random, of);
  return { id, token: text, secretHash };
}

/** Splits a presented token into id and secret; undefined if it doesn't have the form of our tokens. */
export function parseToken(token: string): { id: string; secret: string } | undefined {
  return parseSecret(PREFIX, token);
}

/** Creates a secret of the form `<prefix><id>_<secret>`; the prefix is two letters and an underscore. */
export function issueSecret(
  prefix: string,
  random: RandomBytes,
  id = randomId(random, ID_CHARACTERS),
): { id: string; text: string; secretHash: Uint8Array } {
  const secret = Buffer.from(random(SECRET_BYTES)).toString("base64url");
  return { id, text: `${prefix}${id}_${secret}`, secretHash: hashOf(secret) };
}

/** Splits a secret with this prefix; undefined if it doesn't have the form. */
export function parseSecret(prefix: string, text: string): { id: string; secret: string } | undefined {
  if (!text.startsWith(prefix) || !SHAPE.test(text)) return undefined;
  return { id: text.slice(PREFIX_CHARACTERS, ID_END), secret: text.slice(ID_END + 1) };
}

/** A reused buffer for the hash of the presented secret. */
const presented = new Uint8Array(HASH_BYTES);

/** Compares in constant time. */
export function secretMatches(secret: string, secretHash: Uint8Array): boolean {
  return secretHash.length === HASH_BYTES && timingSafeEqual(hash(secret, presented), secretHash);
}

/** The stored form of a secret. */
export function hashOf(secret: string): Uint8Array {
  return hash(secret, new Uint8Array(HASH_BYTES));
}

function hash(secret: string, into: Uint8Array): Uint8Array {
  Bun.SHA256.hash(secret, into);
  return into;
}
