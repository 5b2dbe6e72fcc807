import { receivedRequest, type SocketEvents, type Upgrade } from "../../http/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { UsageError } from "../options.ts";
import { bunSockets } from "./bun-sockets.ts";
import type { KeyPair, KeyPairInUse } from "../tls/key-pair.ts";
import { KeyPairWatch } from "../tls/key-pair-watch.ts";

type Handler = (request: Request) => Response | Promise<Response>;
type Server = Bun.Server<SocketEvents>;

/**
 * Seconds without a byte after which Bun closes a connection: long enough to send a request's head, or to reuse the
 * connection.
 */
const IDLE_SECONDS = 60;

export interface Listening {
  url: string;
  answerWith(handler: Handler): void;
  /** Binds the port, if that was put off. Throws a `UsageError` if it can't be had. */
  open(): void;
  upgrade: Upgrade;
  /** The network address that a request came from; undefined if its connection has ended. */
  addressOf: (request: Request) => string | undefined;
  /** From now on each answer ends its connection, so that clients connect again. */
  endConnections(): void;
  /** Accepts no new connections; resolves when the open ones have ended, including WebSockets. */
  close(): Promise<void>;
}

export interface Address {
  host: string;
  /** 0 lets the system choose. */
  port: number;
  /** Whether other listeners may use the same port; each then gets a share of the connections (on Linux). */
  shared?: boolean;
  /** For TLS. */
  pair?: KeyPair | undefined;
}

/**
 * Binds a port that a next process may share, to take it over. One on which another process listens is refused, unless that is to be
 * replaced: then it is bound by `open`. Requests that arrive before `answerWith` wait for it. With `tls`, see `listenShared`.
 */
export async function listen(
  { host, port, tls }: Parameters<typeof listenShared>[0],
  { logger, replaces = false }: { logger: Logger; replaces?: boolean },
): Promise<Listening> {
  if (port !== 0 && !replaces) await reservePort({ host, port });
  return listenShared({ host, port, tls, later: replaces }, logger);
}

interface SharedAddress extends Pick<Address, "host" | "port"> {
  tls?: KeyPairInUse | undefined;
  /** Whether `open` binds it; it is known then. */
  later?: boolean | undefined;
}

/** Binds a port that others share. With `tls`, a pair that replaces it in its files is used for new connections. */
export function listenShared({ host, port, tls, later = false }: SharedAddress, logger: Logger): Listening {
  const listener = new Listener({ host, port, shared: true, pair: tls?.pair });
  if (!later) listener.open();
  if (tls !== undefined) listener.watch(tls, logger);
  return listener;
}

class Listener implements Listening {
  #address: Address;
  readonly #ready = Promise.withResolvers<Handler>();
  #handler: Handler | undefined;
  /** The one that accepts connections; undefined until the port is bound. */
  #server: Server | undefined;
  /** The ends of those before it. */
  readonly #ends: Promise<void>[] = [];
  /** The server that a handshake came to, which alone may answer it: meanwhile another one may have taken over. */
  readonly #handshakes = new WeakMap<Request, Server>();
  #watch: KeyPairWatch | undefined;

  constructor(address: Address) {
    this.#address = address;
  }

  get url(): string {
    return urlOf(this.#address);
  }

  open(): void {
    if (this.#server !== undefined) return;
    this.#server = this.#bind(this.#address);
    this.#address = { ...this.#address, port: this.#server.port ?? this.#address.port };
  }

  #bind(address: Address): Server {
    return bind(address, (request, own) => {
      // A model may think for minutes; the pipeline has its own time-outs for that.
      own.timeout(request, 0);
      if (address.pair !== undefined && request.headers.has("upgrade")) this.#handshakes.set(request, own);
      const handler = this.#handler;
      return handler === undefined ? this.#ready.promise.then((late) => late(request)) : handler(request);
    });
  }

  answerWith(next: Handler): void {
    this.#handler = next;
    this.#ready.resolve(next);
  }

  readonly upgrade: Upgrade = (request, data, headers) =>
    (this.#handshakes.get(request) ?? this.#server)?.upgrade(request, { data, headers }) === true;

  readonly addressOf = (request: Request): string | undefined =>
    this.#server?.requestIP(receivedRequest(request))?.address;

  watch(tls: KeyPairInUse, logger: Logger): void {
    this.#watch = new KeyPairWatch({ ...tls, logger, onChange: (pair) => this.#replace(pair) }).start();
  }

  /**
   * New connections get this certificate. Calls under way and WebSockets go on; connections without a call are closed, which is
   * how Bun closes a listener.
   */
  #replace(pair: KeyPair): void {
    this.#address = { ...this.#address, pair };
    if (this.#server === undefined) return;
    const next = this.#bind(this.#address);
    this.#ends.push(this.#server.stop(false));
    this.#server = next;
  }

  endConnections(): void {
    const handler = this.#handler;
    if (handler === undefined) return;
    this.#handler = async (request) => {
      const answer: unknown = await handler(request);
      // A handshake that has become a WebSocket has none.
      if (answer instanceof Response) answer.headers.set("connection", "close");
      return answer as Response;
    };
  }

  async close(): Promise<void> {
    this.#watch?.stop();
    await Promise.all([...this.#ends, this.#server?.stop(false)]);
  }
}

/** Whether no process listens on the port. */
export function isPortFree({ host, port }: Address): boolean {
  try {
    void bind({ host, port }, unavailable).stop(true);
    return true;
  } catch {
    return false;
  }
}

export interface ReservedPort {
  port: number;
  url: string;
  /** Call it once the processes that share the port listen on it. */
  release(): Promise<void>;
}

/** Determines the port for processes that will share it, and that no other process listens on it, unless it is `shared` with that. */
export async function reservePort(address: Address): Promise<ReservedPort> {
  const { host, port, pair, shared = false } = address;
  // Another process serves it already: bound for a moment, it would take calls of that one.
  if (shared) return { port, url: urlOf(address), release: () => Promise.resolve() };
  // No client knows a port chosen by the system yet, so it can be held until it is in use.
  const server = bind({ host, port, shared: port === 0 }, unavailable);
  const taken = server.port ?? port;
  const url = urlOf({ host, port: taken, pair });
  const reserved = { port: taken, url, release: () => server.stop(false) };
  if (port !== 0) await reserved.release();
  return reserved;
}

const unavailable = (): Response => new Response(null, { status: 503 });

function urlOf({ host, port, pair }: Address): string {
  return `${pair === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function bind(
  { host, port, shared = false, pair }: Address,
  fetch: (request: Request, server: Server) => Response | Promise<Response>,
): Server {
  try {
    return Bun.serve<SocketEvents>({
      hostname: host,
      port,
      idleTimeout: IDLE_SECONDS,
      // The gateway's own limit answers in the error format of the surface.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Outside development mode, Bun lets several processes share a port: a second server would take half of the
      // calls.
      reusePort: shared,
      ...(pair && { tls: { cert: pair.cert, key: pair.key } }),
      fetch,
      // Without it, Bun prints whatever breaks a stream off, as text between the lines of the log.
      error(thrown) {
        console.error(thrown);
        return new Response(undefined, { status: 500 });
      },
      websocket: bunSockets,
    });
  } catch (cause) {
    throw new UsageError(`cannot listen on ${host}:${port}: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const isInUse = "code" in cause && cause.code === "EADDRINUSE";
  return isInUse ? "the port is in use; choose another one with --port" : cause.message;
}
