import { connect, type Socket } from "node:net";
import { limits } from "../../core/index.ts";
import { type AddressGuard, OutboundError } from "../../outbound/index.ts";
import {
  endOfHead,
  fieldNamed,
  type ProxyRequest,
  readProxyRequest,
  replyHeadOf,
  requestHeadOf,
} from "./message-head.ts";
import type { ProxyPass } from "./proxy-pass.ts";

/** Bytes of a head, in either direction. Browsers send up to some dozens of kilobytes of cookies. */
const HEAD_BYTES_MAX = 128 * 1024;

/** How long the browser may keep a connection without a request: it opens some ahead. */
const UNUSED_MS_MAX = 60_000;

/** How long a connection to one of the host's addresses may take to open. */
const CONNECT_MS_MAX = 5_000;

export interface ConnectionOptions {
  guard: AddressGuard;
  /** The proxy's own port, which no request may come back to. */
  ownPort: number;
  passOf: (authorization: string | undefined) => ProxyPass | undefined;
}

interface Destination {
  /** `host:port`, the key of verdicts. */
  authority: string;
  host: string;
  port: number;
}

/**
 * One connection of the browser, for one request:
 *
 *   head ──▶ pass ──▶ guard ──▶ connected ──▶ relayed ──▶ closed
 *
 * The request goes to exactly the address that the guard checked. A refused request gets no reply unless it is a CONNECT: a
 * reply would look like one of the server.
 */
export class ProxyConnection {
  readonly #options: ConnectionOptions;
  readonly #client: Socket;
  #head = Buffer.alloc(0);
  readonly #onData = (bytes: Buffer): void => this.#readHead(bytes);

  constructor(client: Socket, options: ConnectionOptions) {
    this.#client = client;
    this.#options = options;
    client.setTimeout(UNUSED_MS_MAX, () => client.destroy());
    // A close follows.
    client.on("error", () => undefined);
    client.on("data", this.#onData);
  }

  #readHead(bytes: Buffer): void {
    this.#head = Buffer.concat([this.#head, bytes]);
    const end = endOfHead(this.#head);
    if (end === -1) {
      if (this.#head.length > HEAD_BYTES_MAX) this.#client.destroy();
      return;
    }
    this.#client.off("data", this.#onData);
    this.#client.pause();
    this.#client.setTimeout(0);
    const request = readProxyRequest(this.#head.subarray(0, end));
    const rest = this.#head.subarray(end);
    this.#head = Buffer.alloc(0);
    if (request === undefined) this.#client.destroy();
    else void this.#answer(request, rest);
  }

  async #answer(request: ProxyRequest, rest: Buffer): Promise<void> {
    const pass = this.#options.passOf(fieldNamed(request.fields, "proxy-authorization"));
    if (pass === undefined) {
      this.#client.end(reply("407 Proxy Authentication Required", `Proxy-Authenticate: Basic realm="proxy"\r\n`));
      return;
    }
    const isTunnel = request.method === "CONNECT";
    const destination = destinationOf(isTunnel ? `http://${request.target}/` : request.target);
    if (destination === undefined || !pass.admit(this.#client)) return this.#refuse(isTunnel);
    try {
      const server = await this.#connect(destination, pass);
      if (isTunnel) this.#client.write(reply("200 Connection established"));
      else server.write(requestHeadOf(request), "latin1");
      if (rest.length > 0) server.write(rest);
      relay({ from: this.#client, to: server, pass });
      if (isTunnel) relay({ from: server, to: this.#client, pass });
      else relayReply({ from: server, to: this.#client, pass });
    } catch (cause) {
      const known = cause instanceof OutboundError ? cause : unreachable(cause);
      pass.note(destination.authority, { failure: known.failure, message: known.message });
      this.#refuse(isTunnel);
    }
  }

  /** Rejects with an `OutboundError`. */
  async #connect({ authority, host, port }: Destination, pass: ProxyPass): Promise<Socket> {
    if (!pass.isWanted(host)) throw new OutboundError("refused", "its host is not asked by this browser");
    if (port === this.#options.ownPort) throw new OutboundError("refused", `port ${port} is not permitted`);
    // The guard needs the host and the port; a browser's URLs may be longer than those of callers.
    const { guard } = this.#options;
    const addresses = await guard.locate(guard.check(`http://${authority}/`));
    let lastCause: unknown;
    for (const address of addresses.slice(0, limits.outboundAddressesMax)) {
      if (pass.isOver || this.#client.destroyed) break;
      try {
        return await openSocket({ host: address, port }, this.#client);
      } catch (cause) {
        lastCause = cause;
      }
    }
    throw unreachable(lastCause);
  }

  #refuse(isTunnel: boolean): void {
    if (isTunnel) this.#client.end(reply("502 Bad Gateway"));
    else this.#client.destroy();
  }
}

/** Undefined if the URL is none of a page or a socket. */
function destinationOf(text: string): Destination | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port } = new URL(text);
  if (protocol !== "http:") return undefined;
  const number = port === "" ? 80 : Number(port);
  return { authority: `${hostname}:${number}`, host: hostname, port: number };
}

/** Both sockets close together from now on. Rejects if the address does not answer in time. */
async function openSocket(place: { host: string; port: number }, client: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = connect({ ...place, allowHalfOpen: true, noDelay: true });
  const onClose = (): void => void server.destroy();
  client.once("close", onClose);
  const timer = setTimeout(() => server.destroy(new Error("the connection took too long")), CONNECT_MS_MAX);
  server.on("error", reject);
  server.once("close", () => reject(new Error("the connection was closed")));
  server.once("connect", resolve);
  try {
    await promise;
    server.once("close", () => client.destroySoon());
    return server;
  } catch (cause) {
    client.off("close", onClose);
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}

interface Relay {
  from: Socket;
  to: Socket;
  pass: ProxyPass;
}

function relay({ from, to, pass }: Relay): void {
  from.on("data", (bytes: Buffer) => {
    if (pass.count(bytes.length)) send({ from, to }, bytes);
  });
  from.on("end", () => void to.end());
  from.resume();
}

/** Like `relay`, with the reply's head changed; interim replies pass before it. */
function relayReply({ from, to, pass }: Relay): void {
  let head: Buffer | undefined = Buffer.alloc(0);
  from.on("data", (bytes: Buffer) => {
    if (!pass.count(bytes.length)) return;
    if (head === undefined) return send({ from, to }, bytes);
    head = Buffer.concat([head, bytes]);
    for (let end = endOfHead(head); end !== -1; end = endOfHead(head)) {
      const read = replyHeadOf(head.subarray(0, end));
      const rest: Buffer = head.subarray(end);
      if (read === undefined) return void to.destroy();
      to.write(read.text, "latin1");
      head = rest;
      if (read.status >= 200 || read.status === 101) {
        head = undefined;
        if (rest.length > 0) send({ from, to }, rest);
        return;
      }
    }
    if (head.length > HEAD_BYTES_MAX) to.destroy();
  });
  from.on("end", () => void to.end());
  from.resume();
}

function send({ from, to }: { from: Socket; to: Socket }, bytes: Buffer): void {
  if (to.write(bytes)) return;
  from.pause();
  to.once("drain", () => from.resume());
}

function unreachable(cause: unknown): OutboundError {
  return new OutboundError("unreachable", "its host could not be reached", { cause });
}

function reply(status: string, fields = ""): string {
  return `HTTP/1.1 ${status}\r\n${fields}Content-Length: 0\r\nConnection: close\r\n\r\n`;
}
