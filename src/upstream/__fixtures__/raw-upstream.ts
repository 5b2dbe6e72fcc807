import type { BodySink, ReplyBody, UpstreamReply, UpstreamRequest } from "../../core/index.ts";
import { UpstreamClient, type UpstreamClientOptions } from "../index.ts";

/** A connection from the upstream's side. */
export interface Peer {
  /** The number of the connection to this upstream, and of the request on it, counted from 1. */
  readonly connection: number;
  readonly request: number;
  /** The request's head and body, as received. */
  readonly text: string;
  readonly socket: Bun.Socket<unknown>;
  /** Writes all of it, however slowly the other side reads. */
  readonly send: (data: string | Uint8Array) => void;
}

interface State {
  connection: number;
  requests: number;
  received: Buffer;
  pending: Buffer;
}

interface Certificate {
  key: string;
  cert: string;
}

const headEnd = "\r\n\r\n";

/** An upstream whose bytes and closes are controlled by the test. */
export class RawUpstream implements Disposable {
  connections = 0;
  closed = 0;
  /** All received bytes, of complete requests or not. */
  receivedBytes = 0;
  readonly requests: string[] = [];
  readonly #listener: Bun.TCPSocketListener<State>;
  readonly #waiting = new Set<() => void>();
  readonly #scheme: string;
  readonly #hostname: string;
  readonly #answer: (peer: Peer) => void;

  constructor(answer: (peer: Peer) => void, hostname = "127.0.0.1", tls?: Certificate) {
    this.#answer = answer;
    this.#scheme = tls === undefined ? "http" : "https";
    this.#hostname = hostname;
    this.#listener = Bun.listen<State>({
      hostname,
      port: 0,
      ...(tls === undefined ? {} : { tls }),
      socket: {
        open: (socket) => this.#opened(socket),
        data: (socket, bytes) => this.#receive(socket, bytes),
        drain: (socket) => write(socket),
        close: () => {
          this.closed += 1;
          this.#tell();
        },
        error: () => undefined,
      },
    });
  }

  url(hostname = this.#hostname): string {
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    return `${this.#scheme}://${host}:${this.#listener.port}/path?query`;
  }

  /** Resolves once the condition holds; it is checked after every event. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
    }
  }

  [Symbol.dispose](): void {
    this.#listener.stop(true);
  }

  #opened(socket: Bun.Socket<State>): void {
    this.connections += 1;
    socket.data = {
      connection: this.connections,
      requests: 0,
      received: Buffer.alloc(0),
      pending: Buffer.alloc(0),
    };
    this.#tell();
  }

  #receive(socket: Bun.Socket<State>, bytes: Buffer): void {
    this.receivedBytes += bytes.length;
    const state = socket.data;
    state.received = Buffer.concat([state.received, bytes]);
    const head = state.received.indexOf(headEnd);
    if (head !== -1) {
      const length = Number(/\r\ncontent-length: (\d+)/.exec(state.received.toString("latin1", 0, head))?.[1] ?? 0);
      if (state.received.length >= head + headEnd.length + length) this.#take(socket);
    }
    this.#tell();
  }

  #take(socket: Bun.Socket<State>): void {
    const state = socket.data;
    const text = state.received.toString("latin1");
    state.received = Buffer.alloc(0);
    state.requests += 1;
    this.requests.push(text);
    const send = (data: string | Uint8Array): void => {
      state.pending = Buffer.concat([state.pending, Buffer.from(data)]);
      write(socket);
    };
    this.#answer({ connection: state.connection, request: state.requests, text, socket, send });
  }

  #tell(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}

function write(socket: Bun.Socket<State>): void {
  const { pending } = socket.data;
  if (pending.length === 0) return;
  const taken = socket.write(pending);
  socket.data.pending = pending.subarray(Math.max(0, taken));
}

/** A reply with a content length. */
export function replyOf(body: string, ...fields: string[]): string {
  return ["HTTP/1.1 200 OK", `content-length: ${Buffer.byteLength(body)}`, ...fields, "", body].join("\r\n");
}

/** A client whose fallback fails unless the test replaces it. */
export function clientOf(options: Partial<UpstreamClientOptions> = {}): UpstreamClient & Disposable {
  const client = new UpstreamClient({
    fallback: () => Promise.reject(new Error("the fallback was asked")),
    clock: () => performance.now(),
    variables: {},
    ...options,
  });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

const noSignal = new AbortController().signal;

export function requestTo(url: string, rest: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return { method: "POST", url, headers: new Headers(), signal: noSignal, ...rest };
}

/** The events of a body. */
export class Reading implements BodySink {
  readonly pieces: Buffer[] = [];
  failure: unknown;
  state: "open" | "ended" | "failed" = "open";
  readonly #done = Promise.withResolvers<void>();
  readonly #waiting = new Set<() => void>();

  static of(body: ReplyBody): Reading {
    const reading = new Reading();
    body.flowTo(reading);
    return reading;
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  get bytes(): number {
    return this.pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** The body's end or failure. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
    }
  }

  onBytes(bytes: Buffer): void {
    if (this.state !== "open") throw new Error(`bytes of a body that has ${this.state}`);
    this.pieces.push(bytes);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  onEnd(): void {
    this.#conclude("ended");
  }

  onFailure(cause: unknown): void {
    this.failure = cause;
    this.#conclude("failed");
  }

  #conclude(state: "ended" | "failed"): void {
    if (this.state !== "open") throw new Error(`a body that has ${this.state} has ${state} again`);
    this.state = state;
    this.#done.resolve();
  }
}

export async function textOf(reply: UpstreamReply): Promise<string> {
  const reading = Reading.of(reply.body);
  await reading.done;
  if (reading.state === "failed") throw reading.failure;
  return reading.text;
}
