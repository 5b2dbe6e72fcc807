import { timingSafeEqual } from "node:crypto";
import { type RandomBytes, randomId } from "../core/index.ts";

/**
 * A token reads `tg_<id>_<secret>`: the id finds the row, the secret (256 random bits) proves it. Only the secret's
 * SHA-256 is stored; a hash without a stretching function is enough because nobody can guess 256 bits.
 */
const PREFIX = "tg_";
const ID_CHARACTERS = 12;
const SECRET_BYTES = 32;
const SHAPE = /^tg_([0-9a-z]{12})_([A-Za-z0-9_-]{43})$/;

export interface IssuedToken {
  id: string;
  /** Shown once, never stored. */
  token: string;
  secretHash: Uint8Array;
}

/** Makes a new token. */
export function issueToken(random: RandomBytes): IssuedToken {
  const id = randomId(random, ID_CHARACTERS);
  const secret = Buffer.from(random(SECRET_BYTES)).toString("base64url");
  return { id, token: `${PREFIX}${id}_${secret}`, secretHash: hashSecret(secret) };
}

/** The two halves of a presented token, or undefined where it is none of ours. */
export function parseToken(token: string): { id: string; secret: string } | undefined {
  const [, id, secret] = SHAPE.exec(token) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Compares in constant time. */
export function secretMatches(secret: string, secretHash: Uint8Array): boolean {
  const presented = hashSecret(secret);
  return presented.length === secretHash.length && timingSafeEqual(presented, secretHash);
}

function hashSecret(secret: string): Uint8Array {
  const hash = new Uint8Array(32);
  Bun.SHA256.hash(secret, hash);
  return hash;
}
