/**
 * Sessions of the revisions of 2025. Nothing is stored for one: its id belongs to the token that began it, which any node
 * can check, and says which questions its client answers.
 */
import { type JsonObject, objectOf, type RandomBytes, randomId } from "../core/index.ts";

const NONCE_CHARACTERS = 20;
const MARK_CHARACTERS = 22;

/** One bit each: a capability by which servers ask the client, and a part of it. */
const bits = [
  ["elicitation", "form"],
  ["elicitation", "url"],
  ["sampling", undefined],
  ["sampling", "tools"],
  ["sampling", "context"],
  ["roots", undefined],
] as const;

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** A new session of the owner, whose client has these capabilities. */
export function newSession(owner: string, random: RandomBytes, capabilities: JsonObject): string {
  const head = `${randomId(random, NONCE_CHARACTERS)}${digitOf(capabilities)}`;
  return `${head}${markOf(owner, head)}`;
}

/** Whether the session id was issued to this owner. The id is no credential: every request needs the owner's token as well. */
export function ownsSession(owner: string, session: string): boolean {
  const head = session.slice(0, -MARK_CHARACTERS);
  // Sessions that an older version began are without capabilities.
  const isWhole = head.length === NONCE_CHARACTERS || head.length === NONCE_CHARACTERS + 1;
  return isWhole && session === `${head}${markOf(owner, head)}`;
}

/** The capabilities by which servers may ask the client of a session. */
export function sessionCapabilities(session: string): JsonObject {
  const digit = session.length > NONCE_CHARACTERS + MARK_CHARACTERS ? session.charAt(NONCE_CHARACTERS) : "A";
  const value = Math.max(DIGITS.indexOf(digit), 0);
  const capabilities: Record<string, JsonObject> = {};
  for (const [index, [name, part]] of bits.entries()) {
    if ((value & (1 << index)) === 0) continue;
    capabilities[name] = { ...capabilities[name], ...(part !== undefined && { [part]: {} }) };
  }
  return capabilities;
}

function digitOf(capabilities: JsonObject): string {
  let value = 0;
  for (const [index, [name, part]] of bits.entries()) {
    const declared = objectOf(capabilities[name]);
    if (declared === undefined) continue;
    // Without any part, elicitation is that by a form.
    const hasPart = part === undefined || (part === "form" && declared["url"] === undefined);
    if (hasPart || objectOf(declared[part]) !== undefined) value |= 1 << index;
  }
  return DIGITS.charAt(value);
}

function markOf(owner: string, head: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(`${owner}\n${head}`).digest("base64url");
  return hash.slice(0, MARK_CHARACTERS);
}
