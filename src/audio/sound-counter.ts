/** Adds up the duration of audio while its bytes arrive, from the audio itself and not from claims in its header. */
export interface SoundCounter {
  push(chunk: Uint8Array): void;
  /** The duration so far; undefined if nothing countable has been found. */
  readonly milliseconds: number | undefined;
}

/**
 * The most bytes per millisecond of audio, for formats whose claimed times can't be verified: four channels of 48 kHz
 * in 16 bits. A claim that is shorter than its bytes allow is rejected.
 */
const BYTES_PER_MS_MAX = 400;

/** The duration that a file claims, rounded; undefined if it is no duration or too short for its bytes of audio. */
export function plausibleDuration(milliseconds: number, soundBytes: number): number | undefined {
  if (!Number.isFinite(milliseconds) || milliseconds <= 0) return undefined;
  return soundBytes > milliseconds * BYTES_PER_MS_MAX ? undefined : Math.round(milliseconds);
}

/** A name of four letters as a 32-bit number, so that comparing it with bytes doesn't allocate a string. */
export function fourLetters(name: string): number {
  return Buffer.from(name, "latin1").readUInt32BE(0);
}
