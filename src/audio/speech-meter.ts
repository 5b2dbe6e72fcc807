import { FlacCounter } from "./flac-counter.ts";
import { FrameCounter } from "./frame-counter.ts";
import { OggCounter } from "./ogg-counter.ts";
import type { SoundCounter } from "./sound-counter.ts";
import { WavCounter } from "./wav-counter.ts";

/** Measures generated speech while it is sent. */
export interface SpeechMeter {
  push(chunk: Uint8Array): void;
  readonly milliseconds: number;
}

/** Bytes per second of `pcm`: 24 kHz, mono, 16 bits, without a header (`docs/wire/openai.md`). */
const PCM_BYTES_PER_SECOND = 48_000;

interface SpeechFormat {
  mediaType: string;
  /** Typical bytes per second of speech, used if nothing in the bytes can be counted. */
  bytesPerSecond: number;
  counter?: () => SoundCounter;
}

const mp3: SpeechFormat = { mediaType: "audio/mpeg", bytesPerSecond: 16_000, counter: () => new FrameCounter() };

const formats = new Map<unknown, SpeechFormat>([
  ["mp3", mp3],
  ["opus", { mediaType: "audio/opus", bytesPerSecond: 4_000, counter: () => new OggCounter() }],
  ["aac", { mediaType: "audio/aac", bytesPerSecond: 8_000, counter: () => new FrameCounter() }],
  ["flac", { mediaType: "audio/flac", bytesPerSecond: 30_000, counter: () => new FlacCounter() }],
  [
    "wav",
    {
      mediaType: "audio/wav",
      bytesPerSecond: PCM_BYTES_PER_SECOND,
      counter: () => new WavCounter({ isTrusted: true }),
    },
  ],
  ["pcm", { mediaType: "audio/pcm", bytesPerSecond: PCM_BYTES_PER_SECOND }],
]);

/** The media type of a `response_format`; MP3's if the format is absent or unknown. */
export function speechMediaType(format: unknown): string {
  return (formats.get(format) ?? mp3).mediaType;
}

/** Creates a meter for speech in a `response_format`; for MP3 if the format is absent or unknown. */
export function speechMeter(format: unknown): SpeechMeter {
  const { bytesPerSecond, counter } = formats.get(format) ?? mp3;
  const counted = counter?.();
  let bytes = 0;
  return {
    push(chunk) {
      bytes += chunk.byteLength;
      counted?.push(chunk);
    },
    get milliseconds() {
      return counted?.milliseconds ?? Math.ceil((bytes * 1_000) / bytesPerSecond);
    },
  };
}
