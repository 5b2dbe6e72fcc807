import { ByteWalker } from "./byte-walker.ts";
import { FRAME_BYTES_MAX, FRAME_HEAD_BYTES, mpegFrameAt } from "./mpeg-frame.ts";
import type { SoundCounter } from "./sound-counter.ts";

const ID3_HEAD_BYTES = 10;
const ID3_FOOTER = 0x10;

/**
 * The length of the ID3 tag at `at`, including its header and footer; 0 if there is no tag, or one that decoders
 * ignore. At least `ID3_HEAD_BYTES` bytes must be available.
 */
export function id3Bytes(bytes: Buffer, at: number): number {
  if (bytes[at] !== 0x49 || bytes.toString("latin1", at, at + 3) !== "ID3") return 0;
  // The size is four times seven bits.
  const sizes = bytes.subarray(at + 6, at + 10);
  if (bytes[at + 3] === 0xff || bytes[at + 4] === 0xff || sizes.some((byte) => byte > 0x7f)) return 0;
  const length = sizes.reduce((sum, byte) => sum * 128 + byte, 0);
  const footer = ((bytes[at + 5] ?? 0) & ID3_FOOTER) === 0 ? 0 : ID3_HEAD_BYTES;
  return ID3_HEAD_BYTES + length + footer;
}

/**
 * MP3, and AAC with ADTS headers. Every frame is counted, since the header frame with the total length may be wrong.
 * Bytes between frames are skipped; if they are the greater part, the file isn't in this format.
 */
export class FrameCounter implements SoundCounter {
  readonly #walker = new ByteWalker(2 * FRAME_BYTES_MAX, (bytes, at) => this.#step(bytes, at));
  #milliseconds = 0;
  #framed = 0;
  #lost = 0;
  /** Whether the last step was a frame (or the initial tag). If so, the next frame's successor needs no check. */
  #inStep = false;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    return this.#walker.stopped || this.#milliseconds === 0 || this.#lost > this.#framed
      ? undefined
      : Math.round(this.#milliseconds);
  }

  #step(bytes: Buffer, at: number): number {
    if (at + ID3_HEAD_BYTES > bytes.length) return 0;
    // After the first frame, a decoder looks for the next frame and ignores tags.
    const tag = this.#framed === 0 ? id3Bytes(bytes, at) : 0;
    if (tag > 0) return tag;
    const frame = mpegFrameAt(bytes, at);
    if (frame === undefined) return this.#lose(bytes, at);
    if (!this.#inStep) {
      const next = at + frame.bytes;
      if (next + FRAME_HEAD_BYTES > bytes.length) return 0;
      if (mpegFrameAt(bytes, next)?.kind !== frame.kind) return this.#lose(bytes, at);
    }
    this.#inStep = true;
    this.#milliseconds += frame.milliseconds;
    this.#framed += frame.bytes;
    return frame.bytes;
  }

  /** Skips to the next possible beginning of a frame. */
  #lose(bytes: Buffer, at: number): number {
    this.#inStep = false;
    const next = bytes.indexOf(0xff, at + 1);
    const lost = (next === -1 ? bytes.length : next) - at;
    this.#lost += lost;
    return lost;
  }
}
