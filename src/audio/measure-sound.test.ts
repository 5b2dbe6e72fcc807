/** How long a file lasts by its own bytes: whatever its head claims, and however it is cut, broken or made to harm. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseBuffer } from "music-metadata";
import {
  adts,
  aiff,
  chunk,
  flac,
  fragmentedMp4,
  id3,
  mp3,
  mp4,
  oggOpus,
  oggVorbis,
  wav,
  webm,
} from "./__fixtures__/sounds.ts";
import { measureSound } from "./measure-sound.ts";

/** A stream of pieces of a size. */
function streamOf(bytes: Buffer, pieceBytes = 64 * 1024): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(Uint8Array.from(bytes.subarray(at, at + pieceBytes)));
      at += pieceBytes;
    },
  });
}

function measured(bytes: Buffer, pieceBytes?: number): Promise<number | undefined> {
  return measureSound(streamOf(bytes, pieceBytes), { size: bytes.length });
}

const formats: [string, Buffer, number][] = [
  ["mp3", mp3(12_000), 12_000],
  ["mp3 behind a tag", Buffer.concat([id3(5_000), mp3(2_400)]), 2_400],
  ["mp3 before a tag", Buffer.concat([mp3(2_400), Buffer.from("TAG".padEnd(128, "x"))]), 2_400],
  // 703 frames of 42.67 ms.
  ["aac", adts(30_000), 29_995],
  ["wav", wav(1_500), 1_500],
  ["opus", oggOpus(3_000), 3_000],
  ["vorbis", oggVorbis(2_500), 2_500],
  ["flac", flac(4_000, 64_000), 4_000],
  // 55 packets of 64 ms.
  ["m4a", mp4(3_500), 3_520],
  ["aiff", aiff(700), 700],
];

test.each(formats)("%s is measured as the library measures it", async (_name, bytes, milliseconds) => {
  expect(await measured(bytes)).toBe(milliseconds);
  const { format } = await parseBuffer(bytes, undefined, { duration: true });
  // It leaves out the last frames of some.
  expect(Math.abs((format.duration ?? 0) * 1_000 - milliseconds)).toBeLessThan(milliseconds / 50);
});

const recorded: [string, Buffer, number][] = [
  ["webm", webm(4_000), 4_000],
  ["webm that claims a duration", webm(4_000, { duration: 60_000 }), 4_000],
  // By the times of its blocks: up to the last one's beginning.
  ["webm with another codec", webm(4_000, { codec: "A_VORBIS" }), 3_980],
  ["m4a in fragments, packet by packet", fragmentedMp4(3_500, "row"), 3_520],
  ["m4a in fragments that say it for each", fragmentedMp4(3_500, "fragment"), 3_520],
  ["m4a in fragments that leave it to the track", fragmentedMp4(3_500, "track"), 3_520],
  ["flac whose head doesn't say", flac(60_000), 60_000],
  ["wav whose writer didn't know", wav(1_000, { claimed: 0xffffffff }), 1_000],
  ["wav whose writer said nothing", wav(1_000, { claimed: 0 }), 1_000],
  ["wav of A-law", wav(1_000, { tag: 6, rate: 8_000 }), 1_000],
  ["wav and what comes behind the samples", wav(1_000, { rest: chunk("LIST", 400) }), 1_000],
];

test.each(recorded)("%s: as recorders write it", async (_name, bytes, milliseconds) => {
  expect(await measured(bytes)).toBe(milliseconds);
});

const second = 16_000 * 2;

/** Only seven bits of each byte count. */
function id3WithHighBit(): Buffer {
  const tag = id3(0, 5_000);
  tag.writeUInt8(tag.readUInt8(8) | 0x80, 8);
  return tag;
}

const lies: [string, Buffer, number | undefined][] = [
  ["a wav of a minute that claims a second", wav(60_000, { claimed: second }), 60_000],
  ["a wav of a second that claims an hour", wav(1_000, { claimed: 3_600 * second }), 1_000],
  ["a wav with samples in two chunks", wav(1_000, { rest: chunk("data", second) }), 2_000],
  ["a flac of a minute that claims a second", flac(60_000, 16_000), 60_000],
  ["a flac of a second that claims an hour", flac(1_000, 57_600_000), 1_000],
  ["an Opus of a minute whose pages claim a second", oggOpus(60_000, () => 48_000), 60_000],
  ["an Opus of a second whose pages claim a day", oggOpus(1_000, () => 4_147_200_000), 1_000],
  ["a Vorbis that is too short for its bytes", oggVorbis(2, 10), undefined],
  ["a webm whose blocks all claim to be the first", webm(60_000, { timeOf: () => 0 }), 60_000],
  ["the same of another codec", webm(60_000, { codec: "A_AAC", timeOf: () => 0 }), undefined],
  ["an m4a whose table claims a sample for each packet", mp4(60_000, { delta: 1 }), 60_032],
  ["an m4a of more packets than bytes", mp4(60_000, { packetBytes: 0 }), undefined],
  ["a film without sound", mp4(3_000, { handler: "vide" }), undefined],
  ["a tag of which there is nothing", id3(1_000, 250_000_000), undefined],
  ["a tag that covers the sound", Buffer.concat([id3(10, 200_000), mp3(2_400)]), undefined],
  [
    "a tag between the frames that covers those behind it",
    Buffer.concat([mp3(240), id3(0, 200_000), mp3(60_000)]),
    60_240,
  ],
  ["a tag whose length no reader believes", Buffer.concat([id3WithHighBit(), mp3(60_000)]), 60_000],
  [
    "a flac whose head claims more samples a second than its frames",
    flac(60_000, 0, { rate: 640_000n, rateCode: 5 }),
    60_000,
  ],
  [
    "a flac whose frames are misnumbered",
    flac(60_000, 0, { numberOf: (frame) => (frame === 0 ? 0 : frame + 1) }),
    undefined,
  ],
  ["an m4a whose table of times leaves packets out", mp4(60_000, { timed: 10 }), 60_032],
  ["the same of another codec", mp4(60_000, { timed: 10, codec: "alac" }), undefined],
];

test.each(lies)("%s", async (_name, bytes, milliseconds) => {
  expect(await measured(bytes)).toBe(milliseconds as number);
});

describe("whatever the pieces", () => {
  const files = {
    mp3: mp3(480),
    adts: adts(500),
    wav: wav(100),
    ogg: oggOpus(400),
    flac: flac(600),
    webm: webm(1_000),
  };
  const all: [string, Buffer][] = [...Object.entries(files), ["mp4", mp4(500)], ["parts", fragmentedMp4(2_000, "row")]];

  test.each(all)("%s is measured the same", async (_name, bytes) => {
    const whole = await measured(bytes);
    expect(whole).toBeGreaterThan(90);
    for (const pieceBytes of [1, 2, 3, 7, 61, 997]) expect(await measured(bytes, pieceBytes)).toBe(whole as number);
  });

  test.each(all)("%s that was cut short lasts no longer", async (_name, bytes) => {
    const whole = (await measured(bytes)) ?? 0;
    const cuts = fc.asyncProperty(fc.integer({ min: 0, max: bytes.length }), async (end) => {
      expect((await measured(bytes.subarray(0, end))) ?? 0).toBeLessThanOrEqual(whole);
    });
    await fc.assert(cuts, { numRuns: 30 });
  });

  test.each(all)("%s with bytes turned over gives a figure or none", async (_name, bytes) => {
    const places = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 20 });
    const damage = fc.asyncProperty(places, async (changes) => {
      const damaged = Buffer.from(bytes);
      for (const [at, byte] of changes) damaged[at] = byte;
      const milliseconds = await measured(damaged);
      expect(milliseconds === undefined || Number.isSafeInteger(milliseconds)).toBe(true);
    });
    await fc.assert(damage, { numRuns: 50 });
  });
});

describe("no sound", () => {
  const names = ["", "x", "RIFF", "OggS", "fLaC", "ID3", "\xff\xfb", "\x1a\x45\xdf\xa3", "FORM", "\0\0\0\x18ftyp"];
  test.each(names)("%j", async (head) => {
    expect(await measured(Buffer.from(head, "latin1"))).toBeUndefined();
    expect(await measured(Buffer.from(head.padEnd(20_000, "hello "), "latin1"))).toBeUndefined();
  });

  test("any bytes at all", async () => {
    const heads = fc.constantFrom(
      "RIFFxxxxWAVE",
      "OggS",
      "fLaC",
      "ID3",
      "\xff\xfb",
      "\x1a\x45\xdf\xa3",
      "FORMxxxxAIFF",
      "",
    );
    const anything = fc.asyncProperty(heads, fc.uint8Array({ maxLength: 3_000 }), async (head, rest) => {
      const milliseconds = await measured(Buffer.concat([Buffer.from(head, "latin1"), rest]), 100);
      expect(milliseconds === undefined || Number.isSafeInteger(milliseconds)).toBe(true);
    });
    await fc.assert(anything, { numRuns: 300 });
  });

  test("a stream that breaks, or is shorter than its file", async () => {
    const broken = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(mp3(240));
      },
      pull(controller) {
        controller.error(new Error("gone"));
      },
    });
    expect(await measureSound(broken, { size: 1_920 })).toBeUndefined();
    expect(await measureSound(streamOf(mp3(240)), { size: 1_921 })).toBeUndefined();
  });
});

test("a format that the library could read, and be kept busy with, is none", async () => {
  // Musepack of a second: a stream's head, and its end.
  const head = Buffer.from("MPCKSH\x0f\0\0\0\0\x08\x82\xd8\x44\0\0\0SE\x03", "latin1");
  expect((await parseBuffer(head)).format.duration).toBe(1);
  expect(await measured(head)).toBeUndefined();
});

describe("bytes made to keep the reader busy", () => {
  const mebibyte = 1024 * 1024;
  const open = Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80]);
  const busy: [string, Buffer, Buffer][] = [
    ["frames that are none", Buffer.of(0xff), Buffer.of(0xff)],
    ["FLAC's sync codes", flac(100), Buffer.of(0xff, 0xf8)],
    ["elements without content", open, Buffer.of(0xec, 0x80)],
    ["tracks without content", open, Buffer.of(0xae, 0x80)],
    ["boxes without content", Buffer.from("\0\0\0\x08ftyp", "latin1"), Buffer.from("\0\0\0\x08trak", "latin1")],
    ["pages without content", Buffer.from("OggS"), Buffer.from("OggS")],
  ];
  test.each(busy)("%s are given up", async (_name, head, again) => {
    expect(await measured(Buffer.concat([head, Buffer.alloc(2 * mebibyte, again)]))).toBeUndefined();
  });
});
