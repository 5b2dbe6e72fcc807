/** The duration of a file by its bytes: whatever its header claims, and however it is cut, broken or crafted. */
import { describe, expect, spyOn, test } from "bun:test";
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
import { Id3Tags } from "./id3-tags.ts";
import { measureSound } from "./measure-sound.ts";

/** A stream of chunks of the given size. */
function streamOf(bytes: Buffer, chunkBytes = 64 * 1024): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(Uint8Array.from(bytes.subarray(at, at + chunkBytes)));
      at += chunkBytes;
    },
  });
}

function measured(bytes: Buffer, chunkBytes?: number): Promise<number | undefined> {
  return measureSound(streamOf(bytes, chunkBytes), { size: bytes.length });
}

const formats: [string, Buffer, number][] = [
  ["mp3", mp3(12_000), 12_000],
  ["mp3 after a tag", Buffer.concat([id3(5_000), mp3(2_400)]), 2_400],
  ["mp3 before a tag", Buffer.concat([mp3(2_400), Buffer.from("TAG".padEnd(128, "x"))]), 2_400],
  // 703 frames of 42.67 ms.
  ["aac", adts(30_000), 29_995],
  ["wav", wav(1_500), 1_500],
  ["opus", oggOpus(3_000), 3_000],
  ["vorbis", oggVorbis(2_560), 2_560],
  ["flac", flac(4_000, 64_000), 4_000],
  // 55 packets of 64 ms.
  ["m4a", mp4(3_500), 3_520],
  ["aiff", aiff(700), 700],
];

test.each(formats)("%s has the duration that the library reads", async (_name, bytes, milliseconds) => {
  expect(await measured(bytes)).toBe(milliseconds);
  const { format } = await parseBuffer(bytes, undefined, { duration: true });
  // The library omits the last frames of some formats.
  expect(Math.abs((format.duration ?? 0) * 1_000 - milliseconds)).toBeLessThan(milliseconds / 50);
});

const recorded: [string, Buffer, number][] = [
  ["webm", webm(4_000), 4_000],
  ["webm that claims a duration", webm(4_000, { duration: 60_000 }), 4_000],
  ["m4a in fragments, with a duration per packet", fragmentedMp4(3_500, "row"), 3_520],
  ["m4a in fragments, with a default per fragment", fragmentedMp4(3_500, "fragment"), 3_520],
  ["m4a in fragments, with a default per track", fragmentedMp4(3_500, "track"), 3_520],
  ["flac without a total in its header", flac(60_000), 60_000],
  ["wav of unknown length", wav(1_000, { claimed: 0xffffffff }), 1_000],
  ["wav with a length of zero", wav(1_000, { claimed: 0 }), 1_000],
  ["wav of A-law", wav(1_000, { tag: 6, rate: 8_000 }), 2_000],
  ["wav with a chunk after the samples", wav(1_000, { tail: chunk("LIST", 400) }), 1_000],
];

test.each(recorded)("%s, as recorders write it, is measured", async (_name, bytes, milliseconds) => {
  expect(await measured(bytes)).toBe(milliseconds);
});

const second = 16_000 * 2;

/** A tag whose length has a high bit set; only seven bits of each byte are valid. */
function id3WithHighBit(): Buffer {
  const tag = id3(0, 5_000);
  tag.writeUInt8(tag.readUInt8(8) | 0x80, 8);
  return tag;
}

const lies: [string, Buffer, number | undefined][] = [
  ["a wav of a minute that claims a second", wav(60_000, { claimed: second }), 60_000],
  ["a wav of a second that claims an hour", wav(1_000, { claimed: 3_600 * second }), 1_000],
  ["a wav with samples in two chunks", wav(1_000, { tail: chunk("data", second) }), undefined],
  ["a flac of a minute that claims a second", flac(60_000, 16_000), 60_000],
  ["a flac of a second that claims an hour", flac(1_000, 57_600_000), 1_000],
  ["an Opus of a minute whose pages claim a second", oggOpus(60_000, () => 48_000), 60_000],
  ["an Opus of a second whose pages claim a day", oggOpus(1_000, () => 4_147_200_000), 1_000],
  ["a Vorbis whose pages claim a hundredth", oggVorbis(60_032, (packets) => Math.ceil(packets * 10.24)), 60_032],
  ["a webm whose blocks all claim to be the first", webm(60_000, { timeOf: () => 0 }), 60_000],
  [
    "a webm with another codec whose blocks all claim to be the first",
    webm(60_000, { codec: "A_AAC", timeOf: () => 0 }),
    undefined,
  ],
  ["an m4a whose table claims a sample for each packet", mp4(60_000, { delta: 1 }), 60_032],
  ["an m4a of more packets than bytes", mp4(60_000, { packetBytes: 0 }), undefined],
  ["a film without sound", mp4(3_000, { handler: "vide" }), undefined],
  ["a tag that claims more bytes than the file has", id3(1_000, 250_000_000), undefined],
  ["a tag that covers the sound", Buffer.concat([id3(10, 200_000), mp3(2_400)]), undefined],
  [
    "a tag between frames that covers the following ones",
    Buffer.concat([mp3(240), id3(0, 200_000), mp3(60_000)]),
    60_240,
  ],
  ["a tag with an invalid length", Buffer.concat([id3WithHighBit(), mp3(60_000)]), undefined],
  [
    "a flac whose header claims a higher sample rate than its frames",
    flac(60_000, 0, { rate: 640_000n, rateCode: 5 }),
    60_000,
  ],
  [
    "a flac whose frames are misnumbered",
    flac(60_000, 0, { numberOf: (frame) => (frame === 0 ? 0 : frame + 1) }),
    60_000,
  ],
  ["an m4a whose table of times omits packets", mp4(60_000, { timed: 10 }), 60_032],
  [
    "an m4a with another codec whose table of times omits packets",
    mp4(60_000, { timed: 10, codec: "alac" }),
    undefined,
  ],
];

test.each(lies)("%s: the claim is not believed", async (_name, bytes, milliseconds) => {
  expect(await measured(bytes)).toBe(milliseconds as number);
});

/** Sounds that contain the bytes of other codecs' frames by chance. */
const sounds: [string, (index: number) => number][] = [
  ["silence below zero", () => -1],
  ["a tone with the word of AC-3", (index) => 3_000 * Math.sin(index / 7)],
  ["a tone with the word of DTS", (index) => 3_200 * Math.sin(index / 7)],
  ["a ramp through all values", (index) => (index % 65_536) - 32_768],
  ["quiet noise", (index) => (Math.imul(index + 1, 2_654_435_761) >>> 25) - 64],
  ["noise", (index) => (Math.imul(index * index + 1, 2_654_435_761) >>> 16) - 32_768],
];

test.each(sounds)("a wav of %s is measured", async (_name, sampleOf) => {
  const file = wav(10_000);
  for (let at = 44; at < file.length; at += 2) file.writeInt16LE(Math.round(sampleOf((at - 44) / 2)), at);
  expect(await measured(file)).toBe(10_000);
});

describe("cut into chunks of any size,", () => {
  const files = {
    mp3: mp3(480),
    adts: adts(500),
    wav: wav(100),
    ogg: oggOpus(400),
    flac: flac(600),
    webm: webm(1_000),
  };
  const all: [string, Buffer][] = [...Object.entries(files), ["mp4", mp4(500)], ["parts", fragmentedMp4(2_000, "row")]];

  test.each(all)("%s has the same duration", async (_name, bytes) => {
    const whole = await measured(bytes);
    expect(whole).toBeGreaterThan(90);
    for (const chunkBytes of [1, 2, 3, 7, 61, 997]) expect(await measured(bytes, chunkBytes)).toBe(whole as number);
  });

  test.each(all)("%s that was cut short is not longer", async (_name, bytes) => {
    const whole = (await measured(bytes)) ?? 0;
    const cuts = fc.asyncProperty(fc.integer({ min: 0, max: bytes.length }), async (end) => {
      expect((await measured(bytes.subarray(0, end))) ?? 0).toBeLessThanOrEqual(whole);
    });
    await fc.assert(cuts, { numRuns: 30 });
  });

  test.each(all)("%s with changed bytes has a duration or none", async (_name, bytes) => {
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

describe("bytes without audio", () => {
  const names = ["", "x", "RIFF", "OggS", "fLaC", "ID3", "\xff\xfb", "\x1a\x45\xdf\xa3", "FORM", "\0\0\0\x18ftyp"];
  test.each(names)("that begin with %j have no duration", async (head) => {
    expect(await measured(Buffer.from(head, "latin1"))).toBeUndefined();
    expect(await measured(Buffer.from(head.padEnd(20_000, "hello "), "latin1"))).toBeUndefined();
  });

  test("that are random have a whole number as duration, or none", async () => {
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
    const anything = fc.asyncProperty(heads, fc.uint8Array({ maxLength: 3_000 }), async (head, tail) => {
      const milliseconds = await measured(Buffer.concat([Buffer.from(head, "latin1"), tail]), 100);
      expect(milliseconds === undefined || Number.isSafeInteger(milliseconds)).toBe(true);
    });
    await fc.assert(anything, { numRuns: 300 });
  });

  test("of a stream that breaks, or is shorter than its file, have no duration", async () => {
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

test("a format that only the library can read, and that could block it, is not measured", async () => {
  // Musepack of one second: the stream's header and its end.
  const head = Buffer.from("MPCKSH\x0f\0\0\0\0\x08\x82\xd8\x44\0\0\0SE\x03", "latin1");
  expect((await parseBuffer(head)).format.duration).toBe(1);
  expect(await measured(head)).toBeUndefined();
});

describe("bytes that are crafted to keep the reader busy", () => {
  const mebibyte = 1024 * 1024;
  const open = Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80]);
  const busy: [string, Buffer, Buffer][] = [
    ["invalid frames", Buffer.of(0xff), Buffer.of(0xff)],
    ["FLAC's sync codes", flac(100), Buffer.of(0xff, 0xf8)],
    ["empty elements", open, Buffer.of(0xec, 0x80)],
    ["empty tracks", open, Buffer.of(0xae, 0x80)],
    ["empty boxes", Buffer.from("\0\0\0\x08ftyp", "latin1"), Buffer.from("\0\0\0\x08trak", "latin1")],
    ["empty pages", Buffer.from("OggS"), Buffer.from("OggS")],
  ];
  test.each(busy)("%s are not measured", async (_name, head, repeated) => {
    expect(await measured(Buffer.concat([head, Buffer.alloc(2 * mebibyte, repeated)]))).toBeUndefined();
  });

  /** How often the files' tags are looked for. */
  const lookups = async (file: Buffer): Promise<number> => {
    const spy = spyOn(Id3Tags.prototype, "bytesAt");
    try {
      expect(await measured(file, 65_536)).toBeUndefined();
      return spy.mock.calls.length;
    } finally {
      spy.mockRestore();
    }
  };

  test.each([0, 1, 20])("a chain of tags of %p bytes takes as many steps as a short one", async (bytes) => {
    const tags = (count: number): Buffer => Buffer.alloc(count * id3(bytes).length, id3(bytes));
    const steps = await lookups(tags(50));
    expect(steps).toBeWithin(20, 50);
    expect(await lookups(tags(100_000))).toBe(steps);
  });

  test("a few tags are skipped", async () => {
    const tags = Buffer.concat(Array.from({ length: 20 }, () => id3(1)));
    expect(await measured(Buffer.concat([tags, mp3(2_400)]))).toBe(2_400);
    expect(await measured(Buffer.concat([tags, flac(600)]))).toBe(await measured(flac(600)));
    expect(await measured(Buffer.concat([id3(0), tags, mp3(2_400)]))).toBeUndefined();
  });
});
