import type { Clock, RandomBytes } from "./environment.ts";
import { storedIdCharactersMax } from "./limits.ts";

const ALPHABET = Buffer.from("0123456789abcdefghijklmnopqrstuvwxyz");

/** The number of pairs of characters. Writing two characters at a time takes half as many random numbers. */
const PAIRS = ALPHABET.length * ALPHABET.length;

/** Below this, the numbers of two bytes map to each pair equally often. */
const EVEN_BELOW = 65_536 - (65_536 % PAIRS);

/** `length` uniformly random characters of [0-9a-z]. */
export function randomId(random: RandomBytes, length: number): string {
  const id = Buffer.alloc(length);
  writeRandom(random, id, 0);
  return id.toString("latin1");
}

/** Fills `id` with random characters from `from` on; discards numbers that would favour the first pairs. */
function writeRandom(random: RandomBytes, id: Buffer, from: number): void {
  let next = from;
  while (next < id.length) {
    const bytes = random(id.length - from + 2);
    for (let at = 1; at < bytes.length && next < id.length; at += 2) {
      const number = (bytes[at - 1] ?? 0) * 256 + (bytes[at] ?? 0);
      if (number >= EVEN_BELOW) continue;
      const pair = number % PAIRS;
      id[next] = ALPHABET[Math.floor(pair / ALPHABET.length)] ?? 0;
      // At the end of the buffer, this write has no effect.
      id[next + 1] = ALPHABET[pair % ALPHABET.length] ?? 0;
      next += 2;
    }
  }
}

const REQUEST_ID = /^req_[0-9a-z]{25}$/;

/** The buffer in which every request id is written. The id's time is only rewritten when it has changed. */
const written = Buffer.from(`req_${"0".repeat(25)}`);
const TIME_AT = 4;
const RANDOM_AT = 13;
let writtenAt = 0;

/**
 * The id of one request: on every response, log line, ledger row and error. It starts with the time (milliseconds in
 * base 36), so that rows of the same moment are adjacent in an index, followed by 82 random bits.
 */
export function requestId(clock: Clock, random: RandomBytes): string {
  const now = clock();
  if (now !== writtenAt) written.write(now.toString(36).padStart(RANDOM_AT - TIME_AT, "0"), TIME_AT, "latin1");
  writtenAt = now;
  writeRandom(random, written, RANDOM_AT);
  return written.toString("latin1");
}

/** Whether a text has the form of a request id. */
export function isRequestId(text: string): boolean {
  return REQUEST_ID.test(text);
}

/** Whether an id from a caller or an upstream may be one that a storage contains. Postgres accepts no NUL in a text. */
export function isStorableId(id: string): boolean {
  return id.length > 0 && id.length <= storedIdCharactersMax && !id.includes("\0");
}

/** The time of a request id, in milliseconds since the epoch. */
function timeOfRequestId(id: string): number {
  return Number.parseInt(id.slice(TIME_AT, RANDOM_AT), 36);
}

/** The times whose texts have equally many characters, so that they are in order. */
const TIME_MAX = 36 ** (RANDOM_AT - TIME_AT) - 1;

/** A text that comes before the ids of all requests of a time, in milliseconds since the epoch, and behind earlier ones. */
export function firstRequestIdAt(time: number): string {
  const text = Math.min(Math.max(Math.trunc(time), 0), TIME_MAX).toString(36);
  return `req_${text.padStart(RANDOM_AT - TIME_AT, "0")}${"0".repeat(25 - RANDOM_AT + TIME_AT)}`;
}

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUID of version 7 (RFC 9562): like a request id it begins with its time. For ids that clients expect to be UUIDs. */
export function timedUuid(clock: Clock, random: RandomBytes): string {
  const bytes = Buffer.from(random(16));
  bytes.writeUIntBE(clock(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export function isTimedUuid(text: string): boolean {
  return UUID_7.test(text);
}

const BATCH_ID = /^(?:msg)?batch_[0-9a-z]{25}$/;

/** Whether a text has the form of a batch's id. */
export function isBatchId(text: string): boolean {
  return BATCH_ID.test(text);
}

/** The time of the id of a series: a request's id, a batch's, or a UUID of version 7. In milliseconds since the epoch. */
export function timeOfSeries(id: string): number {
  if (isTimedUuid(id)) return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
  return timeOfRequestId(isBatchId(id) ? `req_${id.slice(id.indexOf("_") + 1)}` : id);
}

/** The provider's prefix of a model id, the text before the first slash; empty without one. */
export function prefixOf(modelId: string): string {
  return modelId.slice(0, Math.max(modelId.indexOf("/"), 0));
}

/** The provider's own name of a model, the text behind the prefix. */
export function withoutPrefix(modelId: string): string {
  return modelId.slice(modelId.indexOf("/") + 1);
}
