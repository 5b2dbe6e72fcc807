/** HTTP written by hand: for requests that no client would send, and for reading an answer while a request is under way. */
import { connect, type Socket } from "node:net";
import { chatPath } from "./rig.ts";

export interface RawAnswer {
  status: number;
  headers: Headers;
  body: string;
}

export interface RawConnection {
  socket: Socket;
  /** Everything that has come back so far. */
  received: () => string;
  /** The first whole answer; undefined if the connection ended without one. */
  answer: () => Promise<RawAnswer | undefined>;
  /** Resolves when the other side has ended the connection. */
  closed: Promise<void>;
}

const ANSWER_MS_MAX = 10_000;

/** Opens a connection; the test writes to its socket, and must destroy it. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let received = "";
  const answered = Promise.withResolvers<RawAnswer | undefined>();
  const closed = Promise.withResolvers<void>();
  const connected = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => answered.reject(new Error(`no answer within ${ANSWER_MS_MAX} ms: ${received}`)),
    ANSWER_MS_MAX,
  );
  const ended = (): void => {
    clearTimeout(timer);
    answered.resolve(parseAnswer(received));
    closed.resolve();
  };
  socket.on("connect", () => connected.resolve());
  socket.on("data", (bytes: Buffer) => {
    received += bytes.toString("latin1");
    const answer = parseAnswer(received);
    if (answer === undefined) return;
    clearTimeout(timer);
    answered.resolve(answer);
  });
  // A reset is an end like any other; the connection itself failing shows as a missing answer.
  socket.on("error", () => connected.resolve());
  for (const event of ["end", "close"] as const) socket.on(event, ended);
  // A test that never requests the answer must not fail for its absence.
  answered.promise.catch(() => undefined);
  await connected.promise;
  return { socket, received: () => received, answer: () => answered.promise, closed: closed.promise };
}

/** Sends the bytes on a new connection and returns the answer. */
export async function sendRaw(url: string, bytes: string | Uint8Array): Promise<RawAnswer | undefined> {
  const connection = await openRaw(url);
  connection.socket.write(bytes);
  const answer = await connection.answer();
  connection.socket.destroy();
  return answer;
}

/** A chat call on a new connection: a client library would send only a few hundred simultaneously. */
export async function sendChat(url: string, token: string, body: string): Promise<RawAnswer> {
  const head = [`POST ${chatPath} HTTP/1.1`, "host: gateway", `authorization: Bearer ${token}`];
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const answer = await sendRaw(url, `${[...head, length].join("\r\n")}\r\n\r\n${body}`);
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

/** The first answer in the bytes that is no `100 Continue`, once it is there whole. */
function parseAnswer(received: string): RawAnswer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...fields] = received.slice(0, end).split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const body = received.slice(end + 4);
  if (status === 100) return parseAnswer(body);
  const headers = new Headers(
    fields.map((field): [string, string] => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon), field.slice(colon + 1).trim()];
    }),
  );
  if (body.length < Number(headers.get("content-length") ?? 0)) return undefined;
  return { status, headers, body: Buffer.from(body, "latin1").toString("utf8") };
}
