import { describe, expect, test } from "bun:test";
import { adts, flac, mp3, oggOpus, wav } from "./__fixtures__/sounds.ts";
import { speechMediaType, speechMeter } from "./speech-meter.ts";

const second = { pcm: Buffer.alloc(48_000), wav: wav(1_000, { rate: 24_000, claimed: 0xffffffff }) };

/** The meter's milliseconds after each chunk. */
function after(format: unknown, ...chunks: readonly Buffer[]): number[] {
  const meter = speechMeter(format);
  return chunks.map((chunk) => {
    meter.push(chunk);
    return meter.milliseconds;
  });
}

describe("the duration of speech that is being sent", () => {
  test.each<[unknown, Buffer, number]>([
    ["mp3", mp3(2_400), 2_400],
    [undefined, mp3(2_400), 2_400],
    [null, mp3(240), 240],
    ["aac", adts(2_560), 2_560],
    ["opus", oggOpus(2_000), 2_000],
    ["flac", flac(2_048), 2_048],
    ["wav", second.wav, 1_000],
    ["pcm", second.pcm, 1_000],
  ])("of %p is counted", (format, bytes, milliseconds) => {
    expect(after(format, bytes)).toEqual([milliseconds]);
  });

  test("grows with every chunk, wherever it is cut", () => {
    expect(after("mp3", mp3(240).subarray(0, 1_000), mp3(240).subarray(1_000))).toEqual([144, 240]);
    expect(after("wav", second.wav.subarray(0, 44 + 24_000), second.wav.subarray(44 + 24_000))).toEqual([500, 1_000]);
    expect(after("pcm", second.pcm, Buffer.alloc(1))).toEqual([1_000, 1_001]);
  });

  test.each<[string, number]>([
    ["mp3", 2_000],
    ["opus", 8_000],
    ["aac", 4_000],
    ["wav", 667],
  ])("of %s without countable frames is estimated from typical bytes per second", (format, milliseconds) => {
    expect(after(format, Buffer.alloc(32_000))).toEqual([milliseconds]);
  });

  test("is zero before the first byte", () => {
    expect(speechMeter("mp3").milliseconds).toBe(0);
  });
});

test.each<[unknown, string]>([
  ["mp3", "audio/mpeg"],
  ["opus", "audio/opus"],
  ["aac", "audio/aac"],
  ["flac", "audio/flac"],
  ["wav", "audio/wav"],
  ["pcm", "audio/pcm"],
  [undefined, "audio/mpeg"],
])("the media type of %p is %s", (format, type) => {
  expect(speechMediaType(format)).toBe(type);
});
