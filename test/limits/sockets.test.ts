/** WebSockets stay within the bounds of the memory and of the gateway's thread, whatever their clients send. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { hasProc, post, residentMebibytes, type Rig, startRig, until } from "../kit/index.ts";

const MEBIBYTE = 1024 * 1024;

/** The gateway's limit, and what a process may have beside it. */
const limitMebibytes = 256;
const besideMebibytes = 150;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ config: { server: { memory_limit: `${limitMebibytes}MiB` } } });
});
afterAll(() => rig.stop());

interface RawSocket {
  socket: Socket;
  status: number;
  /** The messages after the answer to the handshake. */
  received: () => Buffer;
  closed: Promise<void>;
}

/** A WebSocket whose frames the test writes by hand. */
async function shakeHands(path: string, token: string): Promise<RawSocket> {
  const { hostname, port } = new URL(rig.gateway.url);
  const socket = connect(Number(port), hostname);
  let received = Buffer.alloc(0);
  const head = Promise.withResolvers<string>();
  const closed = Promise.withResolvers<void>();
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    const end = received.indexOf("\r\n\r\n");
    if (end >= 0) head.resolve(received.subarray(0, end).toString());
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    closed.resolve();
    head.reject(new Error("the connection was closed"));
  });
  const lines = [
    `GET ${path} HTTP/1.1`,
    "host: gateway",
    "upgrade: websocket",
    "connection: Upgrade",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    `authorization: Bearer ${token}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const text = await head.promise;
  const after = (): Buffer => received.subarray(Buffer.byteLength(text) + 4);
  return { socket, status: Number(text.split(" ")[1]), received: after, closed: closed.promise };
}

/** Without a body: a text, masked with zeros. */
const emptyFrame = Buffer.from([0x81, 0x80, 0, 0, 0, 0]);

/** The head of a text of this length. */
function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return head;
}

/** The code of the frame that closes a socket, which is the last one. */
const closeCode = ({ received }: RawSocket): number => {
  const bytes = received();
  const at = bytes.lastIndexOf(0x88);
  return bytes.readUInt16BE(at + 2);
};

test.each([
  ["messages", emptyFrame],
  ["pings", Buffer.from([0x89, 0x80, 0, 0, 0, 0])],
  ["pongs", Buffer.from([0x8a, 0x80, 0, 0, 0, 0])],
])("a hundred thousand empty %s close their socket, and others are answered meanwhile", async (_, frame) => {
  const { token } = await rig.caller();
  const raw = await shakeHands("/v1/responses", token);
  expect(raw.status).toBe(101);
  raw.socket.write(Buffer.concat(Array.from({ length: 100_000 }, () => frame)));
  expect((await fetch(`${rig.gateway.url}/health`)).status).toBe(200);
  await raw.closed;
  expect(closeCode(raw)).toBe(1008);
});

test("ten messages in a row that are no turn close the socket, nine and a turn do not", async () => {
  const { token } = await rig.caller();
  const raw = await shakeHands("/v1/responses", token);
  const text = (body: string): Buffer =>
    Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), Buffer.from(body)]);
  const errors = (): number => raw.received().toString().split('"type":"error"').length - 1;
  for (let sent = 0; sent < 9; sent += 1) raw.socket.write(text("{}"));
  await until("nine are refused", () => errors() === 9);
  // A turn of a model that does not exist is one.
  raw.socket.write(text('{"type":"response.create","model":"nobody/x","input":"y"}'));
  await until("the turn is refused", () => errors() === 10);
  for (let sent = 0; sent < 10; sent += 1) raw.socket.write(text("{}"));
  await raw.closed;
  expect([errors(), closeCode(raw)]).toEqual([20, 1008]);
});

test.skipIf(!hasProc)(
  "unfinished messages of sixty sockets are within the memory's limit, and others are served",
  async () => {
    const [hostile, other, caller] = [await rig.caller(), await rig.caller(), await rig.caller()];
    const statuses: number[] = [];
    const raws: RawSocket[] = [];
    const bytes = 15 * MEBIBYTE;
    for (const { token } of [
      ...Array.from({ length: 40 }, () => hostile),
      ...Array.from({ length: 20 }, () => other),
    ]) {
      const raw = await shakeHands("/v1/responses", token);
      statuses.push(raw.status);
      if (raw.status === 101) raws.push(raw);
      else raw.socket.destroy();
    }
    expect(statuses.filter((status) => status === 101)).toHaveLength(16);
    expect(new Set(statuses)).toEqual(new Set([101, 503]));
    // Half of the memory for the first user, the rest for the second.
    expect(statuses.slice(0, 40).filter((status) => status === 101)).toHaveLength(8);
    await Promise.all(
      raws.map(async ({ socket }) => {
        socket.write(frameHead(bytes));
        const piece = Buffer.alloc(MEBIBYTE, "x");
        for (let sent = 0; sent < 14; sent += 1) await new Promise((resolve) => socket.write(piece, resolve));
      }),
    );
    const answer = await caller.chat({ model: "openai/gpt-5-mini", messages: [{ role: "user", content: "Hi" }] });
    expect(answer.status).toBe(200);
    expect(residentMebibytes(rig.gateway.process.pid)).toBeLessThan(limitMebibytes + besideMebibytes);
    for (const { socket } of raws) socket.destroy();
    await until("the memory is free again", async () => {
      const raw = await shakeHands("/v1/responses", hostile.token);
      raw.socket.destroy();
      return raw.status === 101;
    });
  },
);

test("a message to the watcher of a crawl has its own bound", async () => {
  const { token } = await rig.caller();
  const started = await post(rig, "/v2/batch/scrape", token, {
    urls: ["http://127.0.0.1:1/"],
    ignoreInvalidURLs: true,
  });
  const { id } = (await started.json()) as { id: string };
  const raw = await shakeHands(`/v2/batch/scrape/${id}`, token);
  expect(raw.status).toBe(101);
  raw.socket.write(Buffer.concat([frameHead(65 * 1024), Buffer.alloc(65 * 1024, "x")]));
  await raw.closed;
  expect([1000, 1009]).toContain(closeCode(raw));
});
