import { encodeAac, readAac } from "./aac.ts";
import { encodeFlac, readFlac } from "./flac.ts";
import { encodeMp3, readMp3 } from "./mp3.ts";
import { encodeOggOpus, readOgg } from "./ogg-opus.ts";
import { encodePcm, encodeWav, readWav } from "./wav.ts";

export type SoundFormat = "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm" | "mulaw" | "alaw";

/** A silent sound of a known length. */
export interface Sound {
  readonly seconds: number;
  readonly format: SoundFormat;
  /** Hertz; Opus has its own. */
  readonly sampleRate: number;
  /** Bits a second of an MP3. */
  readonly bitRate: number;
}

/** The silent value of the two telephone formats with one byte per sample. */
const muLawSilence = 0xff;
const aLawSilence = 0xd5;

const encoders: { readonly [format in SoundFormat]: (sound: Sound) => Buffer } = {
  mp3: ({ seconds, sampleRate, bitRate }) => encodeMp3(seconds, sampleRate, bitRate),
  opus: ({ seconds }) => encodeOggOpus(seconds),
  aac: ({ seconds, sampleRate }) => encodeAac(seconds, sampleRate),
  flac: ({ seconds, sampleRate }) => encodeFlac(seconds, sampleRate),
  wav: ({ seconds, sampleRate }) => encodeWav(seconds, sampleRate),
  pcm: ({ seconds, sampleRate }) => encodePcm(seconds, sampleRate),
  mulaw: ({ seconds, sampleRate }) => Buffer.alloc(Math.round(seconds * sampleRate), muLawSilence),
  alaw: ({ seconds, sampleRate }) => Buffer.alloc(Math.round(seconds * sampleRate), aLawSilence),
};

const mediaTypes: { readonly [format in SoundFormat]: string } = {
  mp3: "audio/mpeg",
  opus: "audio/opus",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
  mulaw: "audio/basic",
  alaw: "audio/x-alaw-basic",
};

/** The bytes of a sound. */
export function encodeSound(sound: Sound): Buffer {
  return encoders[sound.format](sound);
}

/** The media type of a format. */
export function mediaTypeOf(format: SoundFormat): string {
  return mediaTypes[format];
}

/** A format by its name; MP3 for unknown names. */
export function soundFormat(name: unknown): SoundFormat {
  return isSoundFormat(name) ? name : "mp3";
}

function isSoundFormat(name: unknown): name is SoundFormat {
  return typeof name === "string" && Object.hasOwn(encoders, name);
}

/** The assumed duration of videos and other containers that are not read. */
const assumedBytesPerSecond = 4_000;

/**
 * Seconds of an audio file, from its own heads and frames. Containers of films (MP4, WebM) are known by their first
 * bytes and estimated from their size; null for bytes that are no audio.
 */
export function readSeconds(bytes: Uint8Array): number | null {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = readWav(file) ?? readFlac(file) ?? readOgg(file) ?? readAac(file) ?? readMp3(file);
  // Adding up frames leaves crumbs behind the sixth digit.
  if (read !== null) return Math.round(read * 1e6) / 1e6;
  const isMp4 = file.toString("latin1", 4, 8) === "ftyp";
  const isWebm = file.subarray(0, 4).equals(Buffer.of(0x1a, 0x45, 0xdf, 0xa3));
  return isMp4 || isWebm ? file.length / assumedBytesPerSecond : null;
}

const secondsPerWord = 0.4;
const secondsMax = 3_600;

/** The duration of a spoken text. `seconds:N` in it sets it exactly. */
export function spokenSeconds(text: string, speed = 1): number {
  const exact = /\bseconds:(\d+(?:\.\d+)?)\b/.exec(text)?.[1];
  if (exact !== undefined) return Math.min(secondsMax, Number(exact));
  const words = text.match(/\S+/g)?.length ?? 0;
  return (Math.max(1, words) * secondsPerWord) / speed;
}

const pieceBytes = 4_096;

/** A file in the pieces in which it is sent while it is made. */
export function* soundPieces(file: Buffer): Generator<Buffer> {
  for (let start = 0; start < file.length; start += pieceBytes) yield file.subarray(start, start + pieceBytes);
}
