import type { SocketEvents, Upgrade } from "../../http/index.ts";
import { UsageError } from "../options.ts";
import { bunSockets } from "./bun-sockets.ts";

type Handler = (request: Request) => Response | Promise<Response>;

/**
 * Seconds without a byte after which Bun closes a connection: long enough to send a request's head, or to reuse the
 * connection.
 */
const IDLE_SECONDS = 60;

export interface Listening {
  url: string;
  answerWith(handler: Handler): void;
  upgrade: Upgrade;
  /** Accepts no new connections; resolves when the open ones have ended, including WebSockets. */
  close(): Promise<void>;
}

export interface Address {
  host: string;
  /** 0 lets the system choose. */
  port: number;
  /** Whether other processes may listen on the same port; each then gets a share of the connections (Linux only). */
  shared?: boolean;
}

/** Binds the port. Requests that arrive before `answerWith` wait for it. */
export function listen(address: Address): Listening {
  const ready = Promise.withResolvers<Handler>();
  let handler: Handler | undefined;
  const server = bind(address, (request, own) => {
    // A model may think for minutes; the pipeline has its own time-outs for that.
    own.timeout(request, 0);
    return handler === undefined ? ready.promise.then((late) => late(request)) : handler(request);
  });
  return {
    url: urlOf(address.host, server.port),
    answerWith(next) {
      handler = next;
      ready.resolve(next);
    },
    upgrade: (request, data, headers) => server.upgrade(request, { data, headers }),
    close: () => server.stop(false),
  };
}

export interface ReservedPort {
  port: number;
  url: string;
  /** Call it once the processes that share the port listen on it. */
  release(): Promise<void>;
}

/** Determines the port for processes that will share it, and that no other process listens on it. */
export async function reservePort({ host, port }: Address): Promise<ReservedPort> {
  // No client knows a port chosen by the system yet, so it can be held until it is in use.
  const server = bind({ host, port, shared: port === 0 }, unavailable);
  const reserved = { port: server.port ?? port, url: urlOf(host, server.port), release: () => server.stop(false) };
  if (port !== 0) await reserved.release();
  return reserved;
}

const unavailable = (): Response => new Response(null, { status: 503 });

function urlOf(host: string, port: number | undefined): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function bind(
  { host, port, shared = false }: Address,
  fetch: (request: Request, server: Bun.Server<SocketEvents>) => Response | Promise<Response>,
) {
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
      fetch,
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
