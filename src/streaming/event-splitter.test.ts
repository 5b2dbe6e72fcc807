import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventSplitter } from "./event-splitter.ts";
import { dataOf, eventsOf } from "./events.ts";

const MAX = 1024;

/** Events as upstreams send them: data, comments, names, several lines, characters of several bytes, either line end. */
const texts: Record<string, string> = {
  LF: 'data: {"a":"é😀"}\n\n: keep-alive\n\nevent: delta\ndata: {"b":1}\n\ndata: [DONE]\n\n',
  CRLF: 'data: {"a":"é😀"}\r\n\r\n: keep-alive\r\n\r\nevent: delta\r\ndata: {"b":1}\r\n\r\ndata: [DONE]\r\n\r\n',
  mixed: "data: 1\r\n\ndata: 2\n\r\ndata: 3\n\n\ndata: 4\r\n\r\n\r\n",
};

/** Pushes the pieces and returns the output of each push, and the remainder. */
function split(pieces: readonly Uint8Array[], max = MAX): { blocks: Buffer[]; rest: Buffer } {
  const splitter = new EventSplitter(max);
  const blocks = pieces.map((piece) => Buffer.from(splitter.push(piece)));
  return { blocks, rest: splitter.rest() };
}

const endsWhole = (block: Buffer): boolean => block.length === 0 || /\n\r?\n$/.test(block.toString("latin1"));

describe("a stream cut anywhere", () => {
  test.each(Object.entries(texts))("is passed on in whole events, every byte once (%s)", (_, text) => {
    const bytes = Buffer.from(text);
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        const { blocks, rest } = split(pieces);
        expect(Buffer.concat([...blocks, rest]).toString()).toBe(text);
        // At most one empty line too many, which ends no event.
        expect(rest.toString().trim()).toBe("");
        expect(blocks.every(endsWhole)).toBe(true);
      }
    }
  });

  test.each(Object.entries(texts))("also byte by byte (%s)", (_, text) => {
    const { blocks, rest } = split([...Buffer.from(text)].map((byte) => Uint8Array.of(byte)));
    expect(Buffer.concat([...blocks, rest]).toString()).toBe(text);
    expect(blocks.every(endsWhole)).toBe(true);
    expect(blocks.filter((block) => block.length > 0).length).toBeGreaterThanOrEqual(4);
  });

  test("an event is passed on with its last byte, not later", () => {
    const splitter = new EventSplitter(MAX);
    expect(splitter.push(Buffer.from("data: 1\n")).toString()).toBe("");
    expect(splitter.push(Buffer.from("\nda")).toString()).toBe("data: 1\n\n");
    expect(splitter.push(Buffer.from("ta: 2\r\n\r")).toString()).toBe("");
    expect(splitter.push(Buffer.from("\n")).toString()).toBe("data: 2\r\n\r\n");
  });

  test("an incomplete event is the remainder", () => {
    const { blocks, rest } = split([Buffer.from("data: 1\n\ndata: 2\n"), Buffer.from("data: 3")]);
    expect(Buffer.concat(blocks).toString()).toBe("data: 1\n\n");
    expect(rest.toString()).toBe("data: 2\ndata: 3");
  });

  test("a whole block is passed on without a copy", () => {
    const bytes = Buffer.from("data: 1\n\ndata: 2\n\n");
    const block = new EventSplitter(MAX).push(bytes);
    expect(block.buffer).toBe(bytes.buffer);
    expect(block.byteOffset).toBe(bytes.byteOffset);
  });

  test("retained bytes do not change with the caller's buffer", () => {
    const splitter = new EventSplitter(MAX);
    const first = Buffer.from("data: 1");
    splitter.push(first);
    first.fill(0x78);
    expect(splitter.push(Buffer.from("\n\n")).toString()).toBe("data: 1\n\n");
  });

  test("an event of many pieces is passed on in one, and so is the next", () => {
    const long = Buffer.from(`event: image\ndata: ${"x".repeat(200_000)}\n\n`);
    const bytes = Buffer.concat([long, long, Buffer.from("data: 1\n\n")]);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 999) }, (_, at) =>
      bytes.subarray(at * 999, (at + 1) * 999),
    );
    const { blocks, rest } = split(pieces, 1_000_000);
    const whole = blocks.filter((block) => block.length > 0);
    expect(whole.map((block) => block.length)).toEqual([long.length, long.length + "data: 1\n\n".length]);
    expect(Buffer.concat(whole).equals(bytes)).toBe(true);
    expect(rest).toHaveLength(0);
  });

  test("any bytes come out unchanged, in whole events while events are small", () => {
    const unit = fc.constantFrom("\n", "\r\n", "\n\n", "\r", "data: x", ":", "é");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), fc.array(fc.nat(60), { maxLength: 6 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
        const { blocks, rest } = split(at.slice(1).map((end, index) => bytes.subarray(at[index], end)));
        expect(Buffer.concat([...blocks, rest]).equals(bytes)).toBe(true);
        expect(blocks.every(endsWhole)).toBe(true);
        expect(eventEnds(rest)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe("lines that end with a lone CR, for a reader that changes them", () => {
  const asLf = (pieces: readonly Uint8Array[]): string => {
    const splitter = new EventSplitter(MAX, { changesCr: true });
    return Buffer.concat([...pieces.map((piece) => Buffer.from(splitter.push(piece))), splitter.rest()]).toString();
  };

  test.each(Object.entries(texts))("are ends of events, wherever they are cut (%s)", (name, text) => {
    const lf = text.replaceAll(/\r\n?/g, "\n");
    const sent = name === "mixed" ? text.replace("data: 1\r\n\n", "data: 1\r\r") : lf.replaceAll("\n", "\r");
    const bytes = Buffer.from(sent);
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        expect(asLf(pieces)).toBe(lf);
      }
    }
  });

  test.each(Object.entries(texts))("change no other stream (%s)", (_, text) => {
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(asLf([bytes.subarray(0, cut), bytes.subarray(cut)])).toBe(text);
    }
  });

  test("are passed on with the event", () => {
    const splitter = new EventSplitter(MAX, { changesCr: true });
    expect(splitter.push(Buffer.from("data: 1\r")).toString()).toBe("");
    expect(splitter.push(Buffer.from("\rdata: 2\r\r")).toString()).toBe("data: 1\n\ndata: 2\n\n");
    expect(splitter.push(Buffer.from("\ndata: 3\r\r")).toString()).toBe("data: 3\n\n");
  });
});

/** Whether an event with preceding bytes ends within the bytes. */
const eventEnds = (bytes: Buffer): boolean => /\n\r?\n/.test(bytes.toString("latin1"));

describe("an event over the bound", () => {
  const long = `data: ${"x".repeat(100)}`;

  test("is passed on as it arrives, complete in the end, with no boundary within", () => {
    const splitter = new EventSplitter(50);
    let received = "";
    for (const piece of ["data: 0\n\n", long, long, "\r\n", "\r"]) {
      received += splitter.push(Buffer.from(piece)).toString();
    }
    expect(splitter.atBoundary).toBe(false);
    expect(received.length).toBeGreaterThan(190);
    received += splitter.push(Buffer.from("\ndata: 1\n\n")).toString();
    expect(splitter.atBoundary).toBe(true);
    expect(received).toBe(`data: 0\n\n${long}${long}\r\n\r\ndata: 1\n\n`);
  });

  test("retains no more than the bound", () => {
    const splitter = new EventSplitter(50);
    const exactly = "data: ".padEnd(50, "x");
    expect(splitter.push(Buffer.from(exactly)).length).toBe(0);
    expect(splitter.atBoundary).toBe(true);
    expect(splitter.push(Buffer.from("x")).length).toBeGreaterThanOrEqual(48);
    expect(splitter.atBoundary).toBe(false);
    expect(splitter.rest().length).toBeLessThanOrEqual(3);
  });

  test("is complete, whatever the cuts and line ends", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("\n", "\r\n"),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 60 }),
        (end, size, length) => {
          const text = `data: ${"y".repeat(length)}${end}${end}data: 2${end}${end}`;
          const bytes = Buffer.from(text);
          const splitter = new EventSplitter(20);
          let received = "";
          for (let at = 0; at < bytes.length; at += size) {
            received += splitter.push(bytes.subarray(at, at + size)).toString();
            // A comment may only be inserted at a boundary.
            if (splitter.atBoundary) expect(received).toMatch(/^$|\n\r?\n$/);
          }
          expect(received + splitter.rest().toString()).toBe(text);
          expect(splitter.atBoundary).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("the events of a block", () => {
  test.each(Object.entries(texts))("are views of it, in order (%s)", (_, text) => {
    const block = Buffer.from(text);
    const events = [...eventsOf(block)];
    expect(Buffer.concat(events).toString()).toBe(text);
    expect(events.every((event) => event.buffer === block.buffer)).toBe(true);
    expect(events.flatMap((event) => dataOf(event) ?? []).length).toBe(text.split("data:").length - 1);
  });

  test("include an incomplete one", () => {
    expect([...eventsOf(Buffer.from("data: 1\n\ndata: 2"))].map(String)).toEqual(["data: 1\n\n", "data: 2"]);
    expect([...eventsOf(Buffer.alloc(0))]).toEqual([]);
  });
});

describe("the data of an event", () => {
  test.each<[string, string | undefined]>([
    ["data: x\n\n", "x"],
    ["data:x\n\n", "x"],
    ["data:  x\r\n\r\n", " x"],
    ["data: 1\ndata: 2\n\n", "1\n2"],
    ["event: ping\ndata: {}\nid: 7\n\n", "{}"],
    ["data:\n\n", ""],
    [": data: x\n\n", undefined],
    ["event: done\n\n", undefined],
    ["database: x\n\n", undefined],
    ["data: é😀\n\n", "é😀"],
  ])("%j is %j", (event, data) => {
    expect(dataOf(Buffer.from(event))).toBe(data as never);
  });
});
