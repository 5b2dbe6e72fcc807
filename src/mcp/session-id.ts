/**
 * Sessions of the revisions of 2025. Nothing is stored for one: its id belongs to the token that began it, which any node
 * can check, and its only use is to distinguish two clients with one token.
 */
import { type RandomBytes, randomId } from "../core/index.ts";

const NONCE_CHARACTERS = 20;
const MARK_CHARACTERS = 22;

/** A new session of the owner. */
export function newSession(owner: string, random: RandomBytes): string {
  const nonce = randomId(random, NONCE_CHARACTERS);
  return `${nonce}${markOf(owner, nonce)}`;
}

/** Whether the session id was issued to this owner. The id is no credential: every request needs the owner's token as well. */
export function ownsSession(owner: string, session: string): boolean {
  const nonce = session.slice(0, NONCE_CHARACTERS);
  return session.length === NONCE_CHARACTERS + MARK_CHARACTERS && session === `${nonce}${markOf(owner, nonce)}`;
}

function markOf(owner: string, nonce: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(`${owner}\n${nonce}`).digest("base64url");
  return hash.slice(0, MARK_CHARACTERS);
}
