/** The gateway's reader of HTTP replies beside Node.js's parser: what both accept has the same status and body. */
import fc from "fast-check";
import { BadReply, ReplyReader } from "../../src/upstream/index.ts";
import { type ParsedReply, readByLlhttp } from "./llhttp.ts";
import { cutAt, cuts, mutate, mutations } from "./mutations.ts";
import { fuzzTarget } from "./target.ts";

const statusLine = fc.constantFrom(
  "HTTP/1.1 200 OK",
  "HTTP/1.0 200 OK",
  "HTTP/1.1 404",
  "HTTP/1.1 204 No Content",
  "HTTP/1.1 304 Not Modified",
  "HTTP/1.1 500 Oh no",
  "HTTP/1.1 100 Continue",
  "HTTP/1.1 103 Early Hints",
);

const field = fc.constantFrom(
  "content-length: 5",
  "Content-Length: 5, 5",
  "content-length: 0",
  "content-length: 005",
  "content-length: +5",
  "content-length : 5",
  "transfer-encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "transfer-encoding: identity",
  "transfer-encoding:\tchunked ",
  "connection: close",
  "connection: keep-alive",
  "content-type: application/json",
  "x-folded: a\r\n b",
  "x-empty:",
  "date: Mon, 23 Nov 2026 09:00:00 GMT",
);

const body = fc.constantFrom(
  "",
  "hello",
  "hello, world",
  "5\r\nhello\r\n0\r\n\r\n",
  "5;a=b\r\nhello\r\n3\r\n, w\r\n0\r\nx-trailer: 1\r\n\r\n",
  "005\r\nhello\r\n0\r\n\r\n",
  "A\r\n0123456789\r\n0\r\n\r\n",
);

const head = fc
  .tuple(statusLine, fc.array(field, { maxLength: 4 }))
  .map(([line, fields]) => `${[line, ...fields].join("\r\n")}\r\n\r\n`);

const reply = fc
  .tuple(fc.array(head, { minLength: 1, maxLength: 2 }), body)
  .map(([heads, content]) => Buffer.from(heads.join("") + content, "latin1"));

/** Half of the replies are as they should be, as far as they are. */
const changed = fc.tuple(reply, fc.oneof(fc.constant([]), mutations)).map(([bytes, applied]) => mutate(bytes, applied));

function readByGateway(pieces: readonly Buffer[]): ParsedReply {
  const reader = new ReplyReader();
  reader.start();
  const found: Buffer[] = [];
  const parsed = (error?: string): ParsedReply => ({
    status: reader.head?.status,
    body: Buffer.concat(found),
    isComplete: reader.isOver,
    error,
  });
  try {
    for (const piece of pieces) {
      if (reader.isOver) break;
      const read = reader.read(piece);
      if (read !== undefined) found.push(Buffer.from(read));
    }
  } catch (error) {
    if (error instanceof BadReply) return parsed(error.message);
    throw error;
  }
  if (!reader.isOver) reader.close();
  return parsed();
}

/**
 * What llhttp refuses and RFC 9112 lets a client accept: the same length several times (6.3), and a length beside chunks,
 * after which the connection is closed; and a final reply after an interim one that announces the end of the connection.
 */
const acceptable: ReadonlySet<string> = new Set([
  "Transfer-Encoding can't be present with Content-Length",
  "Content-Length can't be present with Transfer-Encoding",
  "Invalid character in Content-Length",
  "Duplicate Content-Length",
  "Data after `Connection: close`",
]);

/** The difference in meaning, if any. The gateway may be stricter: it may refuse a reply, or wait for more of it. */
function differenceOf(ours: ParsedReply, theirs: ParsedReply): string | undefined {
  if (ours.error !== undefined || !ours.isComplete) return undefined;
  if (acceptable.has(theirs.error ?? "")) return undefined;
  if (theirs.error !== undefined) return `accepted, but llhttp refuses it: ${theirs.error}`;
  if (!theirs.isComplete) return "complete, but llhttp waits for more";
  if (ours.status !== theirs.status) return `status ${ours.status}, for llhttp ${theirs.status}`;
  return ours.body.equals(theirs.body) ? undefined : `the body ${ours.body.toString("latin1")}`;
}

export const replies = fuzzTarget(
  "replies",
  fc.property(changed, cuts, (bytes, positions) => {
    const whole = readByGateway([Buffer.from(bytes)]);
    const cut = readByGateway(cutAt(bytes, positions));
    if (whole.error !== cut.error || whole.isComplete !== cut.isComplete || !whole.body.equals(cut.body)) {
      // Of a reply that is refused, more or less may have been passed on before.
      if (whole.error === undefined || cut.error === undefined) throw new Error("in pieces it is another reply");
    }
    const difference = differenceOf(whole, readByLlhttp(bytes));
    if (difference !== undefined) throw new Error(`${difference}: ${JSON.stringify(bytes.toString("latin1"))}`);
  }),
);
