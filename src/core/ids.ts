import type { Clock, RandomBytes } from "./environment.ts";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** `length` characters of [0-9a-z], evenly spread (bytes that would favour the first characters are thrown away). */
export function randomId(random: RandomBytes, length: number): string {
  let id = "";
  while (id.length < length) {
    for (const byte of random(length * 2)) {
      if (byte < 252 && id.length < length) id += ALPHABET[byte % 36];
    }
  }
  return id;
}

const REQUEST_ID = /^req_[0-9a-z]{25}$/;

/**
 * The id of one request: on every response, log line, ledger row and error. Time first (milliseconds in base 36), so
 * that rows of one moment lie side by side in an index, then 82 random bits.
 */
export function requestId(clock: Clock, random: RandomBytes): string {
  return `req_${clock().toString(36).padStart(9, "0")}${randomId(random, 16)}`;
}

/** Whether a text could be the id of a request. */
export function isRequestId(text: string): boolean {
  return REQUEST_ID.test(text);
}
