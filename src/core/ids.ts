import type { Clock, RandomBytes } from "./environment.ts";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz".split("");

/** Every two of them: an id is put together from half as many pieces. */
const PAIRS = ALPHABET.flatMap((first) => ALPHABET.map((second) => first + second));

/** The numbers of two bytes below this fall on each pair equally often. */
const EVEN_BELOW = 65_536 - (65_536 % PAIRS.length);

/** `length` characters of [0-9a-z], evenly spread (numbers that would favour the first pairs are thrown away). */
export function randomId(random: RandomBytes, length: number): string {
  let id = "";
  while (id.length < length) {
    const bytes = random(length + 2);
    for (let at = 1; at < bytes.length && id.length < length; at += 2) {
      const number = (bytes[at - 1] ?? 0) * 256 + (bytes[at] ?? 0);
      if (number < EVEN_BELOW) id += PAIRS[number % PAIRS.length] ?? "";
    }
  }
  return id.length === length ? id : id.slice(0, length);
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
