import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Frame, frameOf, FrameReader } from "./frames.ts";

const bounds = { bytesMax: 10_000, partsMax: 5 };

function readAll(bytes: Uint8Array, pieceBytes: number): Frame[] {
  const frames: Frame[] = [];
  const reader = new FrameReader(bounds, (frame) => frames.push(frame));
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.push(bytes.subarray(at, at + pieceBytes));
  return frames.map(({ text, parts }) => ({ text, parts: parts.map((part) => new Uint8Array(part)) }));
}

const frame = fc.record({
  text: fc.string({ unit: "binary" }),
  parts: fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 5 }),
});

describe("frames", () => {
  test("arrive as they were sent, whatever the pieces", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 5 }), fc.integer({ min: 1, max: 200 }), (frames, pieceBytes) => {
        const bytes = Buffer.concat(frames.flatMap((each) => frameOf(each)));
        // A text of half a surrogate pair is none in UTF-8.
        const sent = frames.map(({ text, parts }) => ({ text: Buffer.from(text).toString(), parts }));
        expect(readAll(bytes, pieceBytes)).toEqual(sent);
      }),
    );
  });

  test("beyond the bounds are refused before they arrive", () => {
    const large = frameOf({ text: "x".repeat(9_000), parts: [new Uint8Array(1_001)] });
    expect(() => readAll(large[0] ?? new Uint8Array(), 3)).toThrow("a frame has 10001 bytes");
    const many = frameOf({ text: "", parts: Array.from({ length: 6 }, () => new Uint8Array(0)) });
    expect(() => readAll(Buffer.concat(many), 100)).toThrow("a frame has 6 parts");
    expect(() => readAll(Buffer.from("HTTP/1.1 200 OK"), 100)).toThrow("parts");
  });
});
