import { isPlausibleAac } from "./aac-config.ts";
import { ByteWalker } from "./byte-walker.ts";
import { ID3_HEAD_BYTES, Id3Tags } from "./id3-tags.ts";
import { FRAME_BYTES_MAX, FRAME_HEAD_BYTES, type MpegFrame, mpegFrameAt } from "./mpeg-frame.ts";
import { type SoundCounter, wholeMs } from "./sound-counter.ts";

/** Frames in a row at the beginning of MP3. With fewer, decoders may take the file for another format. */
const FRAMES_BEFORE_LOSS = 8;

/**
 * MP3, and AAC with ADTS headers. Every frame is counted, since the header frame with the total length may be wrong.
 * The file must begin with frames, after tags and zeros: all decoders find the same ones then. Behind damaged bytes,
 * decoders of MP3 go on with the next header of any rate and layer, but never with one of AAC; those of AAC differ.
 */
export class FrameCounter implements SoundCounter {
  readonly #walker = new ByteWalker(2 * FRAME_BYTES_MAX, (bytes, at) => this.#step(bytes, at));
  readonly #tags = new Id3Tags();
  #format: MpegFrame["format"] | undefined;
  #milliseconds = 0;
  #frames = 0;
  #framed = 0;
  #lost = 0;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    if (this.#walker.stopped || this.#lost > this.#framed) return undefined;
    if (this.#format === "adts" && !isPlausibleAac(this.#framed, this.#frames)) return undefined;
    return wholeMs(this.#milliseconds);
  }

  #step(bytes: Buffer, at: number): number {
    if (at + ID3_HEAD_BYTES > bytes.length) return 0;
    if (this.#format === undefined) return this.#begin(bytes, at);
    const frame = mpegFrameAt(bytes, at);
    if (frame?.format !== this.#format) return this.#lose(bytes, at);
    // Only a tag may follow the lost bytes of AAC, and of a file with few frames.
    if (this.#lost > 0 && (this.#format === "adts" || this.#frames < FRAMES_BEFORE_LOSS)) this.#walker.stop();
    this.#milliseconds += frame.milliseconds;
    this.#framed += frame.bytes;
    this.#frames += 1;
    return frame.bytes;
  }

  /** Skips tags and zeros up to the first frame, which must be followed by another one of its kind. */
  #begin(bytes: Buffer, at: number): number {
    const skipped = this.#tags.bytesAt(bytes, at) || zerosAt(bytes, at);
    if (skipped > 0) return skipped;
    const frame = mpegFrameAt(bytes, at);
    const next = at + (frame?.bytes ?? 0);
    if (frame !== undefined && next + FRAME_HEAD_BYTES > bytes.length) return 0;
    if (frame === undefined || mpegFrameAt(bytes, next)?.kind !== frame.kind) this.#walker.stop();
    this.#format = frame?.format;
    return this.#format === undefined ? 1 : this.#step(bytes, at);
  }

  /** Skips to the next possible beginning of a frame. */
  #lose(bytes: Buffer, at: number): number {
    const next = bytes.indexOf(0xff, at + 1);
    const lost = (next === -1 ? bytes.length : next) - at;
    this.#lost += lost;
    return lost;
  }
}

function zerosAt(bytes: Buffer, at: number): number {
  let end = at;
  while (bytes[end] === 0) end += 1;
  return end - at;
}
