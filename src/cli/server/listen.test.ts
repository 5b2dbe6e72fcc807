/** A port with TLS whose certificate is replaced while calls and handshakes are under way. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { type SocketEvents, withUrl } from "../../http/index.ts";
import { until } from "../../../test/kit/until.ts";
import { type Issued, selfSigned } from "../../upstream/__fixtures__/certificates.ts";
import { listenShared } from "./listen.ts";

const events: SocketEvents = {
  open: (socket) => void socket.send("hello"),
  message: () => undefined,
  drain: () => undefined,
  control: () => undefined,
  close: () => undefined,
};

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined, flush: () => undefined };

test("a handshake and a call that came before a new certificate are answered after it", async () => {
  const [first, second] = ["first", "second"].map((name) => selfSigned({ name, hosts: ["127.0.0.1"] })) as [
    Issued,
    Issued,
  ];
  const folder = mkdtempSync(join(tmpdir(), "tollgate-listen-"));
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const write = ({ cert, key }: Issued): void => {
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
  };
  write(first);
  const listening = listenShared({ host: "127.0.0.1", port: 0, tls: { files, pair: first } }, logger);
  const going = Promise.withResolvers<void>();
  let waiting = 0;
  listening.answerWith(async (request) => {
    waiting += 1;
    await going.promise;
    if (!request.headers.has("upgrade")) return new Response("answered");
    return new Response(null, { status: listening.upgrade(request, events, {}) ? 101 : 426 });
  });

  const options = { tls: { rejectUnauthorized: false } };
  const call = fetch(listening.url, options);
  const socket = new WebSocket(listening.url.replace("https", "wss"), options as unknown as string[]);
  const greeted = new Promise((resolve, reject) => {
    socket.addEventListener("message", ({ data }) => resolve(data));
    socket.addEventListener("error", reject);
  });
  await until("both are there", () => waiting === 2);
  write(second);
  await until("the new certificate", () => nameAt(listening.url).then((name) => name === "second"));
  going.resolve();
  expect(await (await call).text()).toBe("answered");
  expect(await greeted).toBe("hello");

  let isClosed = false;
  const closed = listening.close().then(() => (isClosed = true));
  expect(await fetch(listening.url, options).catch(() => "refused")).toBe("refused");
  expect(isClosed).toBe(false);
  socket.close();
  await closed;
  rmSync(folder, { recursive: true });
});

function nameAt(url: string): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().subject.CN);
    socket.end();
  });
  socket.on("error", resolve);
  return promise;
}

test("the network address of a request is known by a copy with another URL", async () => {
  const listening = listenShared({ host: "127.0.0.1", port: 0 }, logger);
  listening.answerWith((request) => new Response(listening.addressOf(withUrl("http://localhost/other", request))));
  expect(await fetch(listening.url).then((answer) => answer.text())).toBe("127.0.0.1");
  await listening.close();
});
