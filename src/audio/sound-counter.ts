/** Adds up how long a sound lasts while its bytes go by, by what is there of it and not by what its head claims. */
export interface SoundCounter {
  push(chunk: Uint8Array): void;
  /** Of what has come so far; undefined where nothing has been found that can be counted. */
  readonly milliseconds: number | undefined;
}

/**
 * The most bytes that a millisecond of sound takes in a format whose times can only be believed: four channels of 48 kHz in
 * 16 bits. What claims to be shorter than its bytes allow is not believed.
 */
const BYTES_PER_MS_MAX = 400;

/** A time that a file claims, or undefined where it is none or too short for so many bytes of sound. */
export function believed(milliseconds: number, soundBytes: number): number | undefined {
  if (!Number.isFinite(milliseconds) || milliseconds <= 0) return undefined;
  return soundBytes > milliseconds * BYTES_PER_MS_MAX ? undefined : Math.round(milliseconds);
}

/** A name of four letters as the number that it is in the bytes: comparing it makes no string. */
export function fourLetters(name: string): number {
  return Buffer.from(name, "latin1").readUInt32BE(0);
}
