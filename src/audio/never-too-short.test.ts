/**
 * The measured duration is never less than a common decoder plays: of files that lie, the measure is at least the
 * true duration, or the file can't be measured and is charged by its bytes. If ffmpeg is installed, it decodes the same
 * files and others that it encodes first.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  aacConfig,
  adts,
  aiff,
  chunk,
  flac,
  fragmentedMp4,
  mp3,
  mp4,
  oggOpus,
  oggPage,
  oggVorbis,
  vorbisHeaders,
  vorbisPacket,
  wav,
  webm,
} from "./__fixtures__/sounds.ts";
import { measureSound } from "./measure-sound.ts";

function measured(bytes: Buffer): Promise<number | undefined> {
  return measureSound(new Blob([Uint8Array.from(bytes)]).stream(), { size: bytes.length });
}

/** A copy with changes: each at the offset of a text plus a distance. */
function patched(
  bytes: Buffer,
  ...changes: readonly (readonly [text: string, distance: number, hex: string])[]
): Buffer {
  const copy = Buffer.from(bytes);
  for (const [text, distance, hex] of changes) {
    const at = copy.indexOf(text, 0, "latin1");
    if (at === -1) throw new Error(`the file contains no ${text}`);
    Buffer.from(hex, "hex").copy(copy, at + distance);
  }
  return copy;
}

/** A copy with bytes inserted before a text. */
function inserted(bytes: Buffer, before: string, added: Buffer): Buffer {
  const at = bytes.indexOf(before, 0, "latin1");
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)]);
}

/** A `fmt ` chunk of 16 bits and 64 channels at 768 kHz. */
function hugeFormat(): Buffer {
  const format = chunk("fmt ", 16);
  format.writeUInt16LE(1, 8);
  format.writeUInt16LE(64, 10);
  format.writeUInt32LE(768_000, 12);
  format.writeUInt16LE(16, 22);
  return format;
}

/** Writes the length of ADTS frames into their head. */
function withLength(frame: Buffer): Buffer {
  frame.writeUInt8(0x40 | (frame.length >> 11), 3);
  frame.writeUInt8((frame.length >> 3) & 0xff, 4);
  frame.writeUInt8(((frame.length & 7) << 5) | 0x1f, 5);
  return frame;
}

/** MP3 of 8 kbit/s, in groups of frames behind a header of AAC that claims to contain them. */
function mp3BehindAac(): Buffer {
  const low = Buffer.concat([Buffer.of(0xff, 0xf3, 0x14, 0xc0), Buffer.alloc(20)]);
  const frames = Array.from({ length: 40 }, () => low);
  const group = withLength(Buffer.concat([Buffer.of(0xff, 0xf1, 0x00, 0x40, 0, 0, 0), ...frames]));
  return Buffer.concat([mp3(240), ...Array.from({ length: 60 }, () => group)]);
}

/** AAC whose frames contain several raw blocks, though each claims one. */
function joinedAdts(): Buffer {
  const [head, block] = [adts(43).subarray(0, 7), adts(43).subarray(7)];
  const blocks = Array.from({ length: 400 }, () => block);
  return Buffer.concat(Array.from({ length: 4 }, () => withLength(Buffer.concat([head, ...blocks]))));
}

/** Frames in the samples of a WAV that claims 1.5 MB per second. */
function inWav(frames: Buffer, { rate = 768_000, zeros = 0 } = {}): Buffer {
  const head = wav(0, { rate, claimed: zeros + frames.length });
  return Buffer.concat([head, Buffer.alloc(zeros), frames]);
}

/** A WAV whose sizes are in a separate index: decoders ignore the length of its samples. */
function longWav(): Buffer {
  const index = chunk("ds64", 28);
  const samples = wav(minute, { claimed: 2 });
  index.writeBigUInt64LE(BigInt(samples.length - 44), 16);
  return patched(inserted(samples, "fmt ", index), ["RIFF", 0, "52463634"]);
}

/** A FLAC whose header claims 1 MHz, though its first frame has 8 kHz: the others have its rate. */
function switchedFlac(): Buffer {
  const bytes = flac(minute, 0, { rate: 1_000_000n });
  const low = flac(1_000, 0, { rateCode: 4 });
  return Buffer.concat([bytes.subarray(0, 42), low.subarray(42), bytes.subarray(42)]);
}

/** Packets of Opus in blocks of eight. */
function lacedWebm(): Buffer {
  const packets = Array.from({ length: 8 }, () => Buffer.of(0xf8, 0xff, 0xfe));
  const xiph = Buffer.concat([Buffer.of(7, ...Array.from({ length: 7 }, () => 3)), ...packets]);
  return webm(8_000, { flags: 0x82, packet: xiph, scale: 1_000 });
}

function vorbisWebm(scale: number): Buffer {
  const [identity, comments, setup] = vorbisHeaders();
  const all = Buffer.concat([Buffer.of(2, identity.length, comments.length), identity, comments, setup]);
  return webm(19_000, { codec: "A_VORBIS", packet: vorbisPacket(), setup: all, scale });
}

/** An element that claims to contain the rest of the file, of which decoders don't believe the length. */
function hiddenClusters(): Buffer {
  const file = webm(minute);
  const second = file.indexOf(Buffer.from("1f43b675", "hex"), 10_000);
  const cover = Buffer.concat([Buffer.from("ec01", "hex"), Buffer.from("00000000ffffff", "hex")]);
  return Buffer.concat([file.subarray(0, second), cover, file.subarray(second)]);
}

/** A page that claims to contain the following ones, though its checksum is wrong. */
function hiddenPages(): Buffer {
  const file = oggOpus(minute);
  return hiddenIn(file, file.indexOf("OggS", 200));
}

function hiddenIn(file: Buffer, at: number): Buffer {
  const cover = Buffer.concat([oggPage([], 0), Buffer.alloc(0)]);
  cover.writeUInt8(255, 26);
  return Buffer.concat([file.subarray(0, at), cover, Buffer.alloc(255, 255), file.subarray(at)]);
}

/** A timescale that makes an M4A short. */
function quick(file: Buffer): Buffer {
  return patched(file, ["mdhd", 16, "7fffffff"]);
}

/** Media that extends to the end of the file, or whose length follows. */
function openMedia(file: Buffer, size: 0 | 1): Buffer {
  const at = file.indexOf("mdat") - 4;
  const media = file.subarray(at, at + file.readUInt32BE(at));
  const head =
    size === 0
      ? Buffer.from("\0\0\0\0mdat", "latin1")
      : Buffer.concat([Buffer.from("\0\0\0\x01mdat", "latin1"), Buffer.alloc(8, 0x3f)]);
  return Buffer.concat([file.subarray(0, at), file.subarray(at + media.length), head, media.subarray(8)]);
}

/** The same m4a in which a part plays repeatedly. */
function edited(file: Buffer, edits: number): Buffer {
  const row = Buffer.from("000000640000000000010000", "hex");
  const list = Buffer.concat([Buffer.alloc(16), ...Array.from({ length: edits }, () => row)]);
  list.writeUInt32BE(list.length, 0);
  list.write("elst", 4, "latin1");
  list.writeUInt32BE(edits, 12);
  const at = file.indexOf("moov") - 4;
  const track = file.indexOf("mdia") - 4;
  const copy = Buffer.concat([file.subarray(0, track), list, file.subarray(track)]);
  for (const box of [at, file.indexOf("trak") - 4]) copy.writeUInt32BE(file.readUInt32BE(box) + list.length, box);
  return copy;
}

const minute = 60_000;

/** A name, the file, and the milliseconds of its sound. */
const attacks: [name: string, file: Buffer, milliseconds: number][] = [
  ["a wav with a second format before its samples", inserted(wav(minute), "data", hugeFormat()), minute],
  ["a wav with a second format behind its samples", wav(minute, { tail: hugeFormat() }), minute],
  ["a wav with a second format that is empty", inserted(wav(minute), "data", chunk("fmt ", 16)), minute],
  ["a wav with samples twice", wav(minute, { tail: chunk("data", 2) }), minute],
  ["a wav with a rate of 4 GHz", patched(wav(minute), ["fmt ", 12, "ffffffff"]), minute],
  ["a wav with 65,535 channels", patched(wav(minute), ["fmt ", 10, "ffff"]), minute],
  ["a wav with 65,528 bits per sample", wav(minute, { bits: 65_528 }), minute],
  ["A-law with 65,528 bits per sample", wav(minute, { tag: 6, rate: 8_000, bits: 65_528 }), 2 * minute],
  ["µ-law with 64 bits per sample", wav(minute, { tag: 7, rate: 8_000, bits: 64 }), 2 * minute],
  ["a long wav whose samples claim two bytes", longWav(), minute],
  ["a wav whose samples are mp3", inWav(mp3(minute)), minute],
  ["a wav whose samples are mp3 after a while", inWav(mp3(minute), { zeros: 4_000 }), minute],
  ["a wav whose samples are aac", inWav(adts(minute)), minute - 100],
  ["an aiff that claims a 24th of its frames", patched(aiff(minute), ["COMM", 10, "00009c40"]), minute],
  ["an aiff that claims no frames", patched(aiff(minute), ["COMM", 10, "00000000"]), minute],
  ["an aiff with a rate of 4 GHz", patched(aiff(minute), ["COMM", 16, "401efffffffe00000000"]), minute],
  ["an mp3 whose frames are behind headers of aac", mp3BehindAac(), 60 * 40 * 24],
  ["an mp3 behind another format's head", Buffer.concat([Buffer.from("#!AMR\n"), mp3(minute)]), minute],
  ["an aac of joined frames", joinedAdts(), (1_600 * 1_024) / 24],
  ["a flac whose header claims another rate than its first frame", switchedFlac(), minute],
  [
    "a flac with a second header",
    Buffer.concat([flac(1, 0).subarray(0, 4), secondInfo(), flac(minute).subarray(4)]),
    minute,
  ],
  ["a Vorbis whose pages claim a hundredth", oggVorbis(minute, (packets) => packets * 10), minute - 64],
  ["a Vorbis whose pages claim nothing", oggVorbis(minute, () => 0), minute - 64],
  ["an Ogg whose pages hide others", hiddenPages(), minute],
  ["an Ogg with a second stream of the same number", Buffer.concat([oggOpus(1_000), oggVorbis(minute)]), minute],
  ["an Ogg of Speex", patched(oggOpus(minute), ["OpusHead", 0, "5370656578202020"]), minute],
  ["a webm with laced blocks and a thousandth of the times", lacedWebm(), 8 * 8_000],
  ["a webm with a millionth of the times", webm(minute, { scale: 1 }), minute],
  ["a webm with Vorbis and a millionth of the times", vorbisWebm(1), 949 * 64],
  ["a webm with another codec and a hundredth of the times", webm(minute, { codec: "A_AC3", scale: 10_000 }), minute],
  ["a webm whose elements hide clusters", hiddenClusters(), minute],
  ["an m4a that claims 65,535 Hz", mp4(minute, { rate: 65_535, delta: 1 }), minute],
  ["an m4a that claims a rate of 0", quick(mp4(minute, { rate: 0 })), minute],
  ["an m4a that claims a rate of 0, with open media", openMedia(quick(mp4(minute, { rate: 0 })), 0), minute],
  ["an m4a that claims a rate of 0, with long media", openMedia(quick(mp4(minute, { rate: 0 })), 1), minute],
  ["an m4a whose codec claims 96 kHz", mp4(minute, { config: aacConfig([0x10, 0x08]) }), minute],
  ["an m4a whose codec claims 8 MHz", mp4(minute, { config: aacConfig([0x17, 0xbf, 0xff, 0xff, 0x88]) }), minute],
  ["an m4a with large packets", mp4(minute, { packetBytes: 4_000 }), 3 * minute],
  ["an m4a that plays a part repeatedly", edited(mp4(minute), 4), 2 * minute],
  ["an m4a in fragments that claim no time", quick(fragmentedMp4(minute, "row")), minute],
];

/** The first block of a FLAC, which isn't the last one, with a rate of 1 MHz. */
function secondInfo(): Buffer {
  const info = Buffer.from(flac(1, 0, { rate: 1_000_000n }).subarray(4, 42));
  info.writeUInt8(0, 0);
  return info;
}

test.each(attacks)("%s is not measured too short", async (_name, file, milliseconds) => {
  expect((await measured(file)) ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(Math.floor(milliseconds));
});

test("a file of bytes never lasts 0 ms", async () => {
  expect(await measured(wav(0))).toBeUndefined();
  expect(await measured(wav(1, { rate: 768_000 }).subarray(0, 46))).toBe(1);
});

/** The decoder that the files are compared with; the oldest version that was tried is 5.1. */
const decoder = Bun.which("ffmpeg");

/** A difference by rounding, and by the delay of encoders. */
const TOLERANCE_MS = 2;
const DELAY_MS = 200;

let directory = "";
/** The noise in each encoding that a test uses, by ffmpeg's arguments. */
let encoded = new Map<string, Buffer>();
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "sounds-"));
  if (decoder !== null) encoded = await encodeAll([...encodings, ...spoiled].map(([, args]) => args));
});
afterAll(() => rm(directory, { recursive: true }));

/** The milliseconds that ffmpeg decodes of a file; if it fails, those that it has decoded before. */
async function decodedMs(file: Buffer): Promise<number> {
  const [from, to] = [join(directory, "from"), join(directory, "to")];
  await Promise.all([Bun.write(from, Uint8Array.from(file)), rm(to, { force: true })]);
  const samples = ["-f", "s16le", "-ac", "1", "-ar", "16000"];
  await Bun.spawn([decoder ?? "", "-nostdin", "-v", "quiet", "-i", from, ...samples, to]).exited;
  const output = Bun.file(to);
  return (await output.exists()) ? output.size / 32 : 0;
}

/** Three seconds of bursts, whose beginnings make encoders change the length of their blocks. */
function noise(): Buffer {
  const file = wav(3_000);
  let state = 1;
  for (let at = 44; at < file.length; at += 2) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    if (at % 8_000 < 3_000) file.writeInt16LE((state >>> 20) - 2_048, at);
  }
  return file;
}

/** Encodes the noise with each of some arguments, by one process: to start one takes longer than to encode. */
async function encodeAll(all: readonly string[]): Promise<Map<string, Buffer>> {
  const from = join(directory, "noise");
  await Bun.write(from, Uint8Array.from(noise()));
  const outputs = [...new Set(all)].map((args, index) => ({ args, to: join(directory, `noise-${index}`) }));
  const options = outputs.flatMap(({ args, to }) => [...args.split(" "), to]);
  await Bun.spawn([decoder ?? "", "-nostdin", "-v", "quiet", "-i", from, ...options]).exited;
  const files = outputs.map(async ({ args, to }) => [args, Buffer.from(await Bun.file(to).bytes())] as const);
  return new Map(await Promise.all(files));
}

function encodedBy(args: string): Buffer {
  const file = encoded.get(args);
  if (file === undefined || file.length === 0) throw new Error(`ffmpeg does not encode with ${args}`);
  return file;
}

/** Files as encoders write them: a name, and ffmpeg's arguments. */
const encodings: [name: string, args: string][] = [
  ["mp3", "-c:a libmp3lame -b:a 32k -f mp3"],
  ["mp2", "-c:a mp2 -ar 24000 -b:a 32k -f mp2"],
  ["aac", "-c:a aac -b:a 24k -f adts"],
  ["wav", "-f wav"],
  ["wav of 24 bits", "-c:a pcm_s24le -f wav"],
  ["wav of floats", "-c:a pcm_f32le -f wav"],
  ["wav of µ-law", "-c:a pcm_mulaw -f wav"],
  ["wav of ADPCM", "-c:a adpcm_ms -f wav"],
  ["wav of IMA's ADPCM", "-c:a adpcm_ima_wav -f wav"],
  ["aiff", "-f aiff"],
  ["flac", "-f flac"],
  ["opus", "-c:a libopus -b:a 12k -f ogg"],
  ["opus of 60 ms", "-c:a libopus -frame_duration 60 -b:a 8k -f ogg"],
  ["vorbis", "-c:a libvorbis -f ogg"],
  ["webm with Opus", "-c:a libopus -f webm"],
  ["webm with Vorbis", "-c:a libvorbis -f webm"],
  ["matroska with AAC", "-c:a aac -f matroska"],
  ["matroska with floats", "-c:a pcm_f32le -f matroska"],
  ["m4a", "-c:a aac -f ipod"],
  ["m4a with ALAC", "-c:a alac -f ipod"],
  ["m4a in fragments", "-c:a aac -f mp4 -movflags frag_keyframe+empty_moov"],
  ["m4a with ALAC in fragments", "-c:a alac -f mp4 -movflags frag_keyframe+empty_moov"],
];

/** Changes the claimed position of each page of an Ogg, and its checksum. */
function withGranules(file: Buffer, granuleOf: (granule: bigint) => bigint): Buffer {
  const copy = Buffer.from(file);
  for (let at = 0; at < copy.length;) {
    const segments = copy.subarray(at + 27, at + 27 + copy.readUInt8(at + 26));
    const end = at + 27 + segments.length + segments.reduce((sum, length) => sum + length, 0);
    copy.writeBigInt64LE(granuleOf(copy.readBigInt64LE(at + 6)), at + 6);
    copy.writeUInt32LE(0, at + 22);
    copy.writeUInt32LE(oggChecksum(copy.subarray(at, end)), at + 22);
    at = end;
  }
  return copy;
}

function oggChecksum(page: Buffer): number {
  let sum = 0;
  for (const byte of page) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum < 0 ? 0x04c11db7 : 0);
  }
  return sum >>> 0;
}

const m4a = "-c:a aac -f ipod -use_editlist 0";

/** A name, ffmpeg's arguments, a change to the file that it writes, and the least milliseconds that it decodes then. */
const spoiled: [name: string, args: string, spoil: (file: Buffer) => Buffer, milliseconds: number][] = [
  [
    "a Vorbis whose pages claim a hundredth",
    "-c:a libvorbis -f ogg",
    (file) => withGranules(file, (granule) => granule / 100n),
    2_900,
  ],
  [
    "an Opus whose pages claim a hundredth",
    "-c:a libopus -f ogg",
    (file) => withGranules(file, (granule) => granule / 100n),
    2_900,
  ],
  ["an Ogg whose pages hide others", "-c:a libopus -f ogg -page_duration 100000", hidePages, 0],
  ["an m4a that claims 65,535 Hz", m4a, (file) => patched(file, ["mp4a", 28, "ffff0000"]), 2_900],
  ["an m4a that claims a rate of 0", m4a, (file) => quick(patched(file, ["mp4a", 28, "00000000"])), 2_900],
  ["an m4a that claims a sample for each packet", m4a, (file) => patched(file, ["stts", 16, "00000001"]), 0],
  [
    "an m4a that claims a rate of 0, with open media",
    `${m4a} -movflags faststart`,
    (file) => quick(patched(file, ["mp4a", 28, "00000000"], ["mdat", -4, "00000000"])),
    2_900,
  ],
  ["an m4a that plays its beginning repeatedly", m4a, (file) => edited(file, 8), 0],
  ["an m4a in fragments that claim no time", "-c:a aac -f mp4 -movflags frag_keyframe+empty_moov", quick, 2_900],
  ["a wav whose samples are aac", "-c:a aac -f adts", (file) => inWav(file, { rate: 48_000 }), 2_900],
  ["a wav whose samples are AC-3", "-c:a ac3 -b:a 32k -f ac3", (file) => inWav(file), 2_900],
  ["a wav whose samples are MPEG 2's AC-3", "-c:a eac3 -b:a 32k -f eac3", (file) => inWav(file), 2_900],
  ["a wav whose samples are DTS", "-c:a dca -strict -2 -ar 48000 -b:a 200k -f dts", (file) => inWav(file), 2_900],
  ["a wav whose samples are LOAS", "-c:a aac -f latm", (file) => inWav(file), 0],
  ["a wav whose samples are wrapped AC-3", "-c:a ac3 -ar 48000 -f spdif", (file) => inWav(file), 0],
  ["an aiff with a version of its own", "-f aiff", (file) => patched(inserted(file, "COMM", aiffVersion())), 2_900],
  ["a flac whose header claims another rate", "-f flac", (file) => patched(file, ["fLaC", 18, "fffff0"]), 0],
  [
    "a matroska with AAC and a millionth of the times",
    "-c:a aac -f matroska",
    (file) => patched(file, ["\x2a\xd7\xb1", 4, "000001"]),
    0,
  ],
];

function hidePages(file: Buffer): Buffer {
  return hiddenIn(file, file.indexOf("OggS", 400));
}

function aiffVersion(): Buffer {
  return Buffer.from("FVER\0\0\0\x04\xa2\x80\x51\x40", "latin1");
}

if (decoder === null) console.warn("skipped: the comparison of sound with a decoder, since ffmpeg is not installed");

describe.skipIf(decoder === null)("compared with a decoder,", () => {
  test.each(attacks)("%s is not measured too short", async (_name, file) => {
    const milliseconds = (await measured(file)) ?? Number.POSITIVE_INFINITY;
    expect(milliseconds).toBeGreaterThanOrEqual((await decodedMs(file)) - TOLERANCE_MS);
  });

  test.each(spoiled)("%s is not measured too short", async (_name, args, spoil, least) => {
    const file = spoil(encodedBy(args));
    const decoded = await decodedMs(file);
    expect(decoded).toBeGreaterThanOrEqual(least);
    expect((await measured(file)) ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(decoded - TOLERANCE_MS);
  });

  test.each(encodings)("%s has the decoded duration", async (_name, args) => {
    const file = encodedBy(args);
    const decoded = await decodedMs(file);
    const milliseconds = (await measured(file)) ?? 0;
    expect(decoded).toBeGreaterThan(2_900);
    expect(milliseconds).toBeWithin(Math.floor(decoded) - TOLERANCE_MS, decoded + DELAY_MS);
  });
});
