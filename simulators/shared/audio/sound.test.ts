import { describe, expect, test } from "bun:test";

import { parseBuffer } from "music-metadata";

import { encodeSound, readSeconds, type SoundFormat, spokenSeconds } from "./sound.ts";
import { hear, srtOf, vttOf } from "./transcript.ts";

const plain = { sampleRate: 24_000, bitRate: 32_000 };
/** Half a frame of the format, in seconds, is the most that a length can be off. */
const formats: readonly [SoundFormat, container: string, slack: number][] = [
  ["mp3", "MPEG", 0.012],
  ["opus", "Ogg", 0.01],
  ["flac", "FLAC", 0.001],
  ["wav", "WAVE", 0.001],
  // The reader does not look at the last half second of such short frames.
  ["aac", "ADTS/MPEG-4", 0.6],
];

describe.each(formats)("%s", (format, container, slack) => {
  test.each([0.96, 3, 61.5])("of %d seconds is that long to a reader of media files", async (seconds) => {
    const file = encodeSound({ ...plain, seconds, format });
    const read = await parseBuffer(file, undefined, { duration: true });
    expect(read.format.container).toBe(container);
    expect(Math.abs((read.format.duration ?? 0) - seconds)).toBeLessThanOrEqual(slack + 1e-9);
    expect(Math.abs((readSeconds(file) ?? 0) - seconds)).toBeLessThanOrEqual(0.022);
  });
});

test.each([
  [8_000, 64_000],
  [16_000, 32_000],
  [44_100, 128_000],
  [48_000, 192_000],
])("MP3 of %d Hz at %d bits a second", async (sampleRate, bitRate) => {
  const file = encodeSound({ seconds: 2, format: "mp3", sampleRate, bitRate });
  const { format } = await parseBuffer(file, undefined, { duration: true });
  expect(format).toMatchObject({ sampleRate, bitrate: bitRate, numberOfChannels: 1 });
  expect(Math.abs((format.duration ?? 0) - 2)).toBeLessThanOrEqual(0.036);
});

test("films are estimated, a tag before an MP3 is skipped, and other bytes are no audio", () => {
  const mp4 = Buffer.alloc(8_000);
  mp4.write("ftypM4A ", 4, "latin1");
  expect(readSeconds(mp4)).toBe(2);
  const tag = Buffer.from([...Buffer.from("ID3\x04\0\0"), 0, 0, 1, 0, ...Buffer.alloc(128)]);
  const mp3 = encodeSound({ ...plain, seconds: 1.2, format: "mp3" });
  expect(readSeconds(Buffer.concat([tag, mp3]))).toBeCloseTo(1.2, 6);
  for (const text of ["", "hello", "RIFF", "OggS", "fLaC", "ID3", "\xff\xfb"]) {
    expect(readSeconds(Buffer.from(text, "latin1")), text).toBeNull();
  }
});

test("the duration of a text follows from its words, its speed, or its directive", () => {
  expect(spokenSeconds("one two three four five")).toBe(2);
  expect(spokenSeconds("one two three four five", 2)).toBe(1);
  expect(spokenSeconds("words seconds:7.5", 2)).toBe(7.5);
});

test("subtitles follow the words", () => {
  const heard = hear(6, "words:12");
  expect(heard.words).toHaveLength(12);
  expect(heard.segments).toHaveLength(2);
  expect(srtOf(heard)).toStartWith("1\n00:00:00,000 --> 00:00:05,000\n");
  expect(srtOf(heard)).toContain("\n\n2\n00:00:05,000 --> 00:00:06,000\n");
  expect(vttOf(heard)).toStartWith("WEBVTT\n\n00:00:00.000 --> 00:00:05.000\n");
});
