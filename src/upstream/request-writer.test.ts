import { expect, test } from "bun:test";
import fc from "fast-check";
import { bytesOf, type OutgoingRequest, piecesOf, RequestWriter, type WholeBody } from "./request-writer.ts";

/** A socket that accepts the given numbers of bytes, in turn. */
class NarrowSocket {
  text = "";
  readonly #takes: readonly number[];
  #writes = 0;

  constructor(takes: readonly number[]) {
    this.#takes = takes;
  }

  write(bytes: Uint8Array, from: number, length: number): number {
    const taken = Math.min(length, this.#takes[this.#writes % this.#takes.length] ?? length);
    this.#writes += 1;
    this.text += Buffer.from(bytes.subarray(from, from + taken)).toString("latin1");
    return taken;
  }
}

function requestOf(head: string, body: WholeBody | undefined): OutgoingRequest {
  const cut = head.length >> 1;
  const pieces = piecesOf(body);
  return { opening: head.slice(0, cut), ending: head.slice(cut), pieces, bodyBytes: bytesOf(pieces) };
}

const latin1 = fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code));
const heads = fc.oneof(
  fc.array(latin1, { minLength: 1 }).map((characters) => characters.join("")),
  fc.constantFrom("short", "h".repeat(8_192), "long, é".repeat(2_000)),
);
const texts = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("x".repeat(65_536), "é".repeat(32_769)));
const bodies = fc.oneof(
  fc.constant(undefined),
  texts,
  texts.map((text) => new Uint8Array(Buffer.from(text))),
  fc
    .array(fc.oneof(texts, fc.constantFrom("", "m".repeat(4_096), "p".repeat(5_000))), { maxLength: 6 })
    .map((each) => each.map((text) => new Uint8Array(Buffer.from(text)))),
);

const textOf = (body: WholeBody | undefined): string =>
  (Array.isArray(body) ? Buffer.concat(body as readonly Uint8Array[]) : Buffer.from((body ?? "") as string)).toString(
    "latin1",
  );

test("requests arrive complete, however little their sockets accept, in any interleaving", () => {
  const takes = fc.array(fc.constantFrom(1_000, 9_000, 66_000, 1_000_000), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(fc.record({ head: heads, body: bodies, takes }), { maxLength: 4 }), (requests) => {
      const writes = requests.map(({ head, body, takes: each }) => {
        const write = { socket: new NarrowSocket(each), writer: new RequestWriter(), head, body };
        expect(write.writer.start(write.socket, requestOf(head, body))).toBe(true);
        return write;
      });
      while (writes.some(({ writer }) => !writer.isDone)) {
        for (const { socket, writer } of writes) expect(writer.drain(socket)).toBe(true);
      }
      for (const { socket, head, body } of writes) {
        expect(socket.text === head + textOf(body)).toBe(true);
      }
    }),
  );
});

test("a closed socket is reported at once, and when it would accept more", () => {
  const closed = { write: () => -1 };
  const request = requestOf("head", "x".repeat(100_000));
  expect(new RequestWriter().start(closed, request)).toBe(false);
  const writer = new RequestWriter();
  expect(writer.start(new NarrowSocket([2]), request)).toBe(true);
  expect(writer.drain(closed)).toBe(false);
});

test("a stopped request is not continued", () => {
  const writer = new RequestWriter();
  const socket = new NarrowSocket([2]);
  writer.start(socket, requestOf("head", "body"));
  writer.stop();
  expect(writer.isDone).toBe(true);
  expect(writer.drain(socket)).toBe(true);
  expect(socket.text).toBe("he");
});

test("small pieces are sent with the head, in one write", () => {
  const lengths: number[] = [];
  const socket = { write: (_bytes: Uint8Array, _from: number, length: number) => (lengths.push(length), length) };
  const pieces = [
    Buffer.from('{"model":'),
    Buffer.from('"m"'),
    Buffer.alloc(100_000),
    Buffer.from("}"),
    Buffer.from(" "),
  ];
  expect(new RequestWriter().start(socket, requestOf("head", pieces))).toBe(true);
  expect(lengths).toEqual([16, 100_000, 2]);
});
