import {
  HandshakeRefused,
  type OpenUpstreamSocket,
  type SocketSink,
  type UpstreamSocket,
  type UpstreamSocketRequest,
} from "../core/index.ts";
import { proxyFinder, type ProxyVariables } from "./proxies.ts";

/** Bun names the status only in the text of the error. */
const refusedStatus = /status code: (\d{3})/;

/** What `onClose` gets if the connection broke off. */
const BROKEN_OFF = 1006;

/** Opens WebSockets with Bun's client, through the proxy that the environment defines, if any. */
export function socketOpener(variables: ProxyVariables): OpenUpstreamSocket {
  const proxyOf = proxyFinder(variables);
  return (request) => {
    const proxy = proxyOf(new URL(request.url.replace(/^ws/, "http")));
    return open(request, proxy);
  };
}

function open({ url, headers, openMsMax }: UpstreamSocketRequest, proxy: string | undefined): Promise<UpstreamSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamSocket>();
  const socket = new WebSocket(url, {
    headers: { ...headers },
    // Most messages are audio, which does not compress.
    perMessageDeflate: false,
    tls: { rejectUnauthorized: true },
    ...(proxy === undefined ? {} : { proxy }),
  });
  socket.binaryType = "nodebuffer";
  const opened = new OpenSocket(socket);
  // Without it, a silent upstream would stay "connecting".
  const timer = setTimeout(() => {
    reject(new Error(`the upstream did not answer the handshake within ${openMsMax} ms`));
    socket.terminate();
  }, openMsMax);
  socket.addEventListener("open", () => {
    clearTimeout(timer);
    resolve(opened);
  });
  socket.addEventListener("error", (event) => {
    clearTimeout(timer);
    const status = "message" in event ? refusedStatus.exec(event.message)?.[1] : undefined;
    reject(
      status === undefined ? new Error("the upstream could not be reached") : new HandshakeRefused(Number(status)),
    );
  });
  return promise;
}

type Event = { kind: "message"; message: string | Uint8Array } | { kind: "close"; code: number; reason: string };

class OpenSocket implements UpstreamSocket {
  readonly #socket: WebSocket;
  #sink: SocketSink | undefined;
  /** Events before `flowTo`. */
  #early: Event[] = [];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }: MessageEvent<string | Uint8Array>) => {
      if (this.#sink === undefined) this.#early.push({ kind: "message", message: data });
      else this.#sink.onMessage(data);
    });
    socket.addEventListener("close", ({ code, reason }) => {
      // 1005: the upstream has named no code.
      const event = { kind: "close", code: code === 0 ? BROKEN_OFF : code, reason } as const;
      if (this.#sink === undefined) this.#early.push(event);
      else this.#sink.onClose(event.code, reason);
    });
    // Known to Bun only, not to the types of the DOM.
    socket.addEventListener("pong" as "message", () => this.#sink?.onPong());
  }

  flowTo(sink: SocketSink): void {
    this.#sink = sink;
    const early = this.#early;
    this.#early = [];
    for (const event of early) {
      if (event.kind === "message") sink.onMessage(event.message);
      else sink.onClose(event.code, event.reason);
    }
  }

  send(message: string | Uint8Array): void {
    this.#socket.send(message);
  }

  get queuedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  ping(): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(code: number, reason?: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
