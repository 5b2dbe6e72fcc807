import type { SocketEvents, Upgrade } from "../../http/index.ts";
import { UsageError } from "../options.ts";
import { bunSockets } from "./bun-sockets.ts";

type Handler = (request: Request) => Response | Promise<Response>;

/** Seconds without a byte after which Bun closes a connection: long enough to send a request's head, or to reuse it. */
const IDLE_SECONDS = 60;

export interface Listening {
  url: string;
  answerWith(handler: Handler): void;
  upgrade: Upgrade;
  /** Takes no new connections; resolves when the open ones have ended, WebSockets too. */
  close(): Promise<void>;
}

export interface Address {
  host: string;
  /** 0: the system chooses. */
  port: number;
  /** Whether other processes may listen on the same port; each then gets a part of the connections (Linux only). */
  shared?: boolean;
}

/** Binds the port. Requests that come before `answerWith` wait for it. */
export function listen(address: Address): Listening {
  const ready = Promise.withResolvers<Handler>();
  let handler: Handler | undefined;
  const server = bind(address, (request, own) => {
    // A model may think for minutes; how long is for the pipeline's own, named time-outs to say.
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
  /** To be called once those who share the port listen on it. */
  release(): Promise<void>;
}

/** Finds out, for processes that will share a port, which one it is, and that nobody else listens on it. */
export async function reservePort({ host, port }: Address): Promise<ReservedPort> {
  // Nobody knows yet which port the system has chosen, so that nobody calls it: it can be held until it is in use.
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
      // The gateway's own limit answers in the shape of the surface.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Outside of development Bun lets several processes share a port: a second server would take half of the calls.
      reusePort: shared,
      fetch,
      websocket: bunSockets,
    });
  } catch (cause) {
    throw new UsageError(
      `cannot listen on ${host}:${port}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}
