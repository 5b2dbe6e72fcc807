import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../core/index.ts";
import { ReplyReader } from "./reply-reader.ts";

interface Outcome {
  status?: number | undefined;
  type?: string | null | undefined;
  body: string;
  isOver: boolean;
  hasExcess: boolean;
  keepsAlive?: boolean | undefined;
  failed: boolean;
}

/** Reads the bytes in the given pieces; like a connection, it stops after the end of a reply. */
function readPieces(pieces: Buffer[], reader = new ReplyReader()): Outcome {
  reader.start();
  let body = "";
  let failed = false;
  let hasExcess = false;
  for (const piece of pieces) {
    if (reader.isOver) {
      hasExcess ||= piece.length > 0;
      continue;
    }
    try {
      // A copy: the reader owns the bytes and moves them.
      body += reader.read(Buffer.from(piece))?.toString("latin1") ?? "";
    } catch {
      failed = true;
      break;
    }
  }
  const { head, isOver } = reader;
  return {
    status: head?.status,
    type: head?.get("content-type"),
    keepsAlive: head?.keepsAlive,
    body,
    isOver,
    hasExcess: hasExcess || reader.hasExcess,
    failed,
  };
}

function cut(text: string, at: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, "latin1");
  const cuts = [...new Set(at.map((position) => position % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [...cuts, bytes.length].map((end, index) => bytes.subarray(cuts[index - 1] ?? 0, end));
}

function read(text: string): Outcome {
  return readPieces(cut(text, []));
}

const reply = (fields: string[], body = "", statusLine = "HTTP/1.1 200 OK"): string =>
  `${[statusLine, ...fields].join("\r\n")}\r\n\r\n${body}`;

const chunk = (text: string, extension = ""): string => `${text.length.toString(16)}${extension}\r\n${text}\r\n`;

const whole = { isOver: true, hasExcess: false, failed: false };

const goodReplies: Record<string, [text: string, body: string, keepsAlive: boolean]> = {
  "a length": [reply(["Content-Length: 5"], "hello"), "hello", true],
  "a length of 0": [reply(["content-length: 0"]), "", true],
  "the same length twice": [reply(["content-length: 2", "content-length: 2, 2"], "ok"), "ok", true],
  chunks: [
    reply(["transfer-encoding: chunked"], `${chunk("one")}${chunk("two, and ")}${chunk("3")}0\r\n\r\n`),
    "onetwo, and 3",
    true,
  ],
  "chunks with extensions and trailers": [
    reply(["Transfer-Encoding: CHUNKED"], `${chunk("ab", ";a=b;c")}${chunk("cd", " ;x")}000;y\r\nA: b\r\nC: d\r\n\r\n`),
    "abcd",
    true,
  ],
  "chunks and a length": [
    reply(["content-length: 3", "transfer-encoding: chunked"], `${chunk("ab")}0\r\n\r\n`),
    "ab",
    false,
  ],
  "a close": [reply(["content-length: 2", "connection: x, Close"], "ok"), "ok", false],
  "HTTP/1.0": [reply(["content-length: 2"], "ok", "HTTP/1.0 200 OK"), "ok", false],
  "HTTP/1.0 that keeps alive": [
    reply(["content-length: 2", "connection: Keep-Alive"], "ok", "HTTP/1.0 200 OK"),
    "ok",
    true,
  ],
  "HTTP/1.0 with chunks": [
    reply(["connection: keep-alive", "transfer-encoding: chunked"], "0\r\n\r\n", "HTTP/1.0 200 OK"),
    "",
    false,
  ],
  "a status without a reason": [reply(["content-length: 2"], "ok", "HTTP/1.1 503"), "ok", true],
  "204 with a length": [reply(["content-length: 5"], "", "HTTP/1.1 204 No Content"), "", true],
  "304 with chunks": [reply(["transfer-encoding: chunked"], "", "HTTP/1.1 304 Not Modified"), "", true],
  "interim replies": [
    `HTTP/1.1 100 Continue\r\n\r\n${reply(["link: </x>"], "", "HTTP/1.1 103 Early Hints")}${reply(["content-length: 2"], "ok")}`,
    "ok",
    true,
  ],
  "no headers that frame it": [reply(["content-type: a"], "until the end"), "until the end", false],
};

const badReplies: Record<string, string> = {
  "another protocol": "SSH-2.0-OpenSSH_9.2\r\n",
  "another version": reply(["content-length: 0"], "", "HTTP/1.2 200 OK"),
  "HTTP/2": reply(["content-length: 0"], "", "HTTP/2 200 OK"),
  "a status of two digits": reply(["content-length: 0"], "", "HTTP/1.1 20 OK"),
  "a status of 600": reply(["content-length: 0"], "", "HTTP/1.1 600 OK"),
  "a change of protocol": reply(["upgrade: x"], "", "HTTP/1.1 101 Switching Protocols"),
  "lengths that differ": reply(["content-length: 5", "content-length: 6"], "hello!"),
  "lengths that differ in one line": reply(["content-length: 5, 6"], "hello!"),
  "a length that is negative": reply(["content-length: -1"]),
  "a length with a sign": reply(["content-length: +1"], "x"),
  "a length that is hexadecimal": reply(["content-length: 0x1"], "x"),
  "an empty length": reply(["content-length:"]),
  "a length beyond what can be counted": reply([`content-length: ${"9".repeat(17)}`]),
  "a folded line": reply(["x: a", " b", "content-length: 0"]),
  "a space before the colon": reply(["content-length : 0"]),
  "a line without a colon": reply(["nonsense", "content-length: 0"]),
  "a header without a name": reply([": x", "content-length: 0"]),
  "a bare line feed in a value": reply(["x: a\nb: c", "content-length: 0"]),
  "a bare carriage return in a value": reply(["x: a\rb", "content-length: 0"]),
  "a NUL in a value": reply(["x: a\0b", "content-length: 0"]),
  "another transfer encoding": reply(["transfer-encoding: gzip, chunked"], "0\r\n\r\n"),
  "a transfer encoding of identity": reply(["transfer-encoding: identity"]),
  "chunked twice": reply(["transfer-encoding: chunked", "transfer-encoding: chunked"], "0\r\n\r\n"),
  "a chunk without a size": reply(["transfer-encoding: chunked"], "\r\nab\r\n"),
  "a chunk with an extension only": reply(["transfer-encoding: chunked"], ";x\r\nab\r\n"),
  "a chunk's size that is no number": reply(["transfer-encoding: chunked"], "2g\r\nab\r\n"),
  "a chunk's size with a prefix": reply(["transfer-encoding: chunked"], "0x2\r\nab\r\n"),
  "a chunk's size that is too long": reply(["transfer-encoding: chunked"], `${"0".repeat(13)}1\r\na\r\n`),
  "a chunk's size that ends in a bare line feed": reply(["transfer-encoding: chunked"], "2\nab\r\n"),
  "an extension that ends in a bare line feed": reply(["transfer-encoding: chunked"], "2;x\nab\r\n"),
  "a chunk that is longer than its size": reply(["transfer-encoding: chunked"], "2\r\nabc\r\n"),
  "a chunk that ends in a bare line feed": reply(["transfer-encoding: chunked"], "2\r\nab\n0\r\n\r\n"),
  "a trailer that ends in a bare line feed": reply(["transfer-encoding: chunked"], "0\r\nA: b\n\r\n"),
  "a trailer that is no header": reply(["transfer-encoding: chunked"], "0\r\nHTTP/1.1 200 OK\r\n\r\n"),
  "a trailer without a name": reply(["transfer-encoding: chunked"], "0\r\n: a\r\n\r\n"),
  "a trailer without a colon": reply(["transfer-encoding: chunked"], "0\r\na\r\n\r\n"),
  "a size with another word": reply(["transfer-encoding: chunked"], "2 OK\r\nab\r\n0\r\n\r\n"),
  "trailers with a carriage return that ends nothing": reply(["transfer-encoding: chunked"], "0\r\n\rA"),
};

describe("a reply", () => {
  for (const [what, [text, body, keepsAlive]] of Object.entries(goodReplies)) {
    test(`with ${what} is read`, () => {
      const outcome = read(text);
      expect(outcome).toMatchObject({ body, keepsAlive, failed: false, hasExcess: false });
      expect(outcome.isOver).toBe(!text.endsWith("until the end"));
    });
  }

  for (const [what, text] of Object.entries(badReplies)) {
    test(`with ${what} is refused`, () => {
      expect(read(text).failed).toBe(true);
    });
  }

  test("returns its headers by name, several of one name joined", () => {
    const reader = new ReplyReader();
    reader.read(
      Buffer.from(
        reply(["X-A:  one\t", "x-ab: not", "Set-Cookie: a", "x-a:", "x-A: two", "content-length: 0", "k: \xe4"]),
        "latin1",
      ),
    );
    const { head } = reader;
    expect(head?.get("x-a")).toBe("one, , two");
    expect(head?.get("set-cookie")).toBe("a");
    expect(head?.get("k")).toBe("ä");
    expect(head?.get("x")).toBeNull();
    expect(head?.get("x-abc")).toBeNull();
  });

  test("contains the keep-alive time of its connection", () => {
    const reader = new ReplyReader();
    reader.read(Buffer.from(reply(["keep-alive: max=5, timeout=7", "content-length: 0"])));
    expect(reader.head?.keepAliveMs).toBe(7_000);
  });

  test("with bytes after its end is complete, and reports them", () => {
    for (const text of [
      reply(["content-length: 2"], "okHTTP/1.1"),
      reply(["transfer-encoding: chunked"], "2\r\nok\r\n0\r\n\r\nH"),
    ]) {
      expect(read(text)).toMatchObject({ body: "ok", isOver: true, hasExcess: true, failed: false });
    }
    expect(read(reply(["content-length: 0"], "x"))).toMatchObject({ body: "", isOver: true, hasExcess: true });
    expect(read(reply([], "x", "HTTP/1.1 204 No Content"))).toMatchObject({ isOver: true, hasExcess: true });
  });

  test("is not over before its last byte", () => {
    for (const text of [
      reply(["content-length: 2"], "ok"),
      reply(["transfer-encoding: chunked"], `${chunk("ok")}0\r\n\r\n`),
    ]) {
      for (let end = 0; end < text.length; end += 1)
        expect(read(text.slice(0, end))).toMatchObject({ isOver: false, failed: false });
      expect(read(text)).toMatchObject(whole);
    }
  });
});

describe("a bound", () => {
  const chunked = reply(["transfer-encoding: chunked"]);
  const long = (bytes: number): string => "x".repeat(bytes);

  test("limits heads, in one piece and in many", () => {
    const fitting = reply([`a: ${long(limits.replyHeadBytesMax - 100)}`, "content-length: 0"]);
    const over = reply([`a: ${long(limits.replyHeadBytesMax)}`, "content-length: 0"]);
    const endless = `HTTP/1.1 200 OK\r\na: ${long(limits.replyHeadBytesMax + 10)}`;
    const inPieces = (text: string): Buffer[] =>
      cut(
        text,
        Array.from({ length: 300 }, (_, index) => index * 300),
      );
    expect(read(fitting)).toMatchObject(whole);
    expect(readPieces(inPieces(fitting))).toMatchObject(whole);
    for (const text of [over, endless]) {
      expect(read(text).failed).toBe(true);
      expect(readPieces(inPieces(text)).failed).toBe(true);
    }
  });

  test("limits interim replies", () => {
    const interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
    const end = reply(["content-length: 0"]);
    expect(read(interim.repeat(limits.interimRepliesMax) + end)).toMatchObject(whole);
    expect(read(interim.repeat(limits.interimRepliesMax + 1) + end).failed).toBe(true);
  });

  test("limits a chunk's extensions, and trailers", () => {
    expect(read(`${chunked}1;${long(limits.chunkLineBytesMax - 2)}\r\na\r\n0\r\n\r\n`)).toMatchObject(whole);
    expect(read(`${chunked}1;${long(limits.chunkLineBytesMax)}\r\na\r\n0\r\n\r\n`).failed).toBe(true);
    expect(read(`${chunked}0\r\na: ${long(limits.replyHeadBytesMax)}\r\n\r\n`).failed).toBe(true);
    expect(read(`${chunked}0\r\n${"a: b\r\n".repeat(limits.replyHeadBytesMax / 5)}\r\n`).failed).toBe(true);
  });
});

describe("any cutting of the bytes", () => {
  const texts = [...Object.values(goodReplies).map(([text]) => text), ...Object.values(badReplies)];
  const cuts = fc.array(fc.nat(1_000), { maxLength: 30 });

  test("gives the same reply", () => {
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.constantFrom("", "HTTP/1.1 "), cuts, (text, excess, at) => {
        const uncut = read(text + excess);
        const outcome = readPieces(cut(text + excess, at));
        // Of a reply that fails later, any part of the beginning may have been passed on.
        if (uncut.failed) expect(outcome.failed).toBe(true);
        else expect(outcome).toEqual(uncut);
      }),
      { numRuns: 1_000 },
    );
  });

  test("byte by byte gives the same reply", () => {
    for (const text of texts) {
      const outcome = readPieces(
        cut(
          text,
          Array.from({ length: text.length }, (_, index) => index),
        ),
      );
      const uncut = read(text);
      if (uncut.failed) expect(outcome.failed).toBe(true);
      else expect(outcome).toEqual(uncut);
    }
  });

  test("returns the data of the chunks, one reply after the other on one reader", () => {
    const reader = new ReplyReader();
    const piece = fc
      .string({ unit: "binary", minLength: 1, maxLength: 40 })
      .map((text) => text.replaceAll(/[^\0-\xff]/g, "?"));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), cuts, (pieces, at) => {
        const text = reply(["transfer-encoding: chunked"], `${pieces.map((one) => chunk(one)).join("")}0\r\n\r\n`);
        expect(readPieces(cut(text, at), reader)).toMatchObject({ ...whole, body: pieces.join("") });
      }),
    );
  });

  test("of bytes that are not a reply throws only the expected error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), cuts, (bytes, at) => {
        const beginning = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        const text = beginning + Buffer.from(bytes).toString("latin1");
        const uncut = read(text);
        const outcome = readPieces(cut(text, at));
        expect(outcome.failed).toBe(uncut.failed);
        expect(outcome.isOver).toBe(uncut.isOver);
      }),
    );
  });
});
