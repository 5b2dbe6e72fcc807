import { describe, expect, test } from "bun:test";
import { MessageReader } from "./message-reader.ts";
import type { MessageKind } from "./message-reader.ts";

interface Message {
  head: string;
  body: string;
}

function read(kind: MessageKind, pieces: readonly Buffer[]): Message[] {
  const messages: Message[] = [];
  let head = "";
  let body: Buffer[] = [];
  const reader = new MessageReader(kind, {
    onHead: (text) => {
      head = text;
      body = [];
    },
    onBody: (piece) => body.push(Buffer.from(piece)),
    onEnd: () => messages.push({ head, body: Buffer.concat(body).toString() }),
  });
  for (const piece of pieces) reader.push(piece);
  return messages;
}

const fixed = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const chunked =
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" +
  "5\r\nhello\r\n23;name=value\r\n, said in a longer chunk of its own\r\n0\r\ntrailer: x\r\n\r\n";
const empty = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const bodies = ["hello", "hello, said in a longer chunk of its own", "", "hello"];
const connection = Buffer.from(fixed + chunked + empty + fixed);

describe("MessageReader", () => {
  test("reads messages one after the other, whatever their framing", () => {
    expect(read("response", [connection]).map((message) => message.body)).toEqual(bodies);
  });

  test("reads the same wherever the bytes are cut", () => {
    for (let size = 1; size < connection.length; size += 1) {
      const pieces: Buffer[] = [];
      for (let start = 0; start < connection.length; start += size)
        pieces.push(connection.subarray(start, start + size));
      expect(read("response", pieces).map((message) => message.body)).toEqual(bodies);
    }
  });

  test("hands the head over without its blank line", () => {
    const [message] = read("response", [Buffer.from(fixed)]);
    expect(message?.head).toBe("HTTP/1.1 200 OK\r\nContent-Length: 5");
  });

  test("takes a request without a length for one without a body", () => {
    const [message] = read("request", [Buffer.from("GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n")]);
    expect(message?.body).toBe("");
  });

  test("ends a message only at its end", () => {
    expect(read("response", [Buffer.from(fixed.slice(0, -1))])).toEqual([]);
    expect(read("response", [Buffer.from(chunked.slice(0, -1))])).toEqual([]);
  });

  test.each([
    ["no framing", "HTTP/1.1 200 OK\r\n\r\n"],
    ["a chunk size in other letters", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n"],
    ["a chunk longer than its size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabc\r\n"],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n"],
  ])("refuses an answer with %s", (_name, bytes) => {
    expect(() => read("response", [Buffer.from(bytes)])).toThrow();
  });
});
