/** Adds up the duration of audio while its bytes arrive, from the audio itself and not from claims in its header. */
export interface SoundCounter {
  push(chunk: Uint8Array): void;
  /** The duration so far; undefined if nothing countable has been found, or if a decoder might hear more. */
  readonly milliseconds: number | undefined;
}

/** Compensates for the rounding of sums. */
const ROUNDING_MS = 0.001;

/** A duration in whole milliseconds, rounded up; undefined if it is none. A file with bytes never lasts 0 ms. */
export function wholeMs(milliseconds: number): number | undefined {
  return Number.isFinite(milliseconds) && milliseconds > 0 ? Math.ceil(milliseconds - ROUNDING_MS) || 1 : undefined;
}

/** The highest sample rate and the most channels of a file that is believed. */
const RATE_MAX = 768_000;
const CHANNELS_MAX = 64;

/** The samples per second of all channels; 0 if no real recording has such numbers. */
export function samplesPerSecond(rate: number, channels: number): number {
  return rate <= RATE_MAX && channels <= CHANNELS_MAX ? rate * channels : 0;
}

/** A name of four letters as a 32-bit number, so that comparing it with bytes doesn't allocate a string. */
export function fourLetters(name: string): number {
  return Buffer.from(name, "latin1").readUInt32BE(0);
}
