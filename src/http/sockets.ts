/** Accepts WebSockets for features, and lists the open ones. */
import {
  type AcceptedSocket,
  GatewayError,
  shuttingDown,
  type Socket,
  type SocketHandler,
  toGatewayError,
} from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";

type MaybePromise = void | Promise<void>;

/** The events of one WebSocket. None of these methods throws. */
export interface SocketEvents {
  open(socket: Socket): void;
  message(message: string | Uint8Array): void;
  drain(): void;
  close(code: number, reason: string): void;
}

/**
 * Answers a handshake with these headers. Returns false if it is invalid or its client has disconnected; no events
 * follow then.
 */
export type Upgrade = (request: Request, events: SocketEvents, headers: Readonly<Record<string, string>>) => boolean;

export interface SocketsOptions {
  upgrade: Upgrade;
  logger: Logger;
}

/** The request that a socket came from. */
interface Handshake {
  request: Request;
  requestId: string;
  /** Headers of the answer besides the route's. */
  headers: Readonly<Record<string, string>>;
}

export class Sockets {
  readonly #options: SocketsOptions;
  readonly #open = new Set<OpenSocket>();
  #closing = false;

  constructor(options: SocketsOptions) {
    this.#options = options;
  }

  /** The number of sockets that have not ended, including those whose handlers are still ending their work. */
  get active(): number {
    return this.#open.size;
  }

  /** Turns the connection of a request into a WebSocket. Throws 426 for a request without a proper handshake. */
  accept({ request, requestId, headers }: Handshake, accepted: AcceptedSocket): Response {
    const { upgrade, logger } = this.#options;
    const socket = new OpenSocket({
      handler: accepted.socket,
      onEnd: () => void this.#open.delete(socket),
      onFailure: (thrown) => logger.error({ request_id: requestId, ...failureOf(thrown) }, "socket failed"),
    });
    this.#open.add(socket);
    if (this.#closing) {
      // Its handshake was running when the server began to stop.
      socket.close(1006, "");
      throw shuttingDown();
    }
    // An empty one is omitted from the answer; without it, Bun would choose the first one that the client offers, which
    // may be a token.
    const chosen = { "sec-websocket-protocol": accepted.protocol ?? "" };
    let upgraded = false;
    try {
      upgraded = upgrade(request, socket, { ...accepted.headers, ...headers, ...chosen });
    } finally {
      if (!upgraded) socket.close(1006, "");
    }
    if (!upgraded) throw upgradeRequired();
    // The server has sent it already.
    return new Response(null, { status: 101 });
  }

  /** Announces the end of the server to the open sockets, which may finish their work. */
  close(): void {
    for (const socket of this.#open) socket.retire();
  }

  /** Closes all open sockets, and accepts no more, because the server is stopping. */
  abortAll(): void {
    this.#closing = true;
    for (const socket of this.#open) socket.shutdown();
  }
}

/** Throws 426 if a request does not ask for a WebSocket. */
export function requireHandshake({ method, headers }: Request): void {
  if (method !== "GET" || !websocket.test(headers.get("upgrade") ?? "")) throw upgradeRequired();
}

const websocket = /(^|,)\s*websocket\s*(,|$)/i;

function upgradeRequired(): GatewayError {
  return new GatewayError("upgrade_required", "This is for WebSockets alone: it takes a handshake of version 13.", {
    headers: { upgrade: "websocket", connection: "upgrade" },
  });
}

interface OpenSocketParts {
  handler: SocketHandler;
  /** Called once, when the handler has ended its work. */
  onEnd: () => void;
  onFailure: (thrown: unknown) => void;
}

/** Wraps a feature's handler: its exceptions end the socket and go no further. */
class OpenSocket implements SocketEvents {
  readonly #parts: OpenSocketParts;
  #socket: Socket | undefined;

  constructor(parts: OpenSocketParts) {
    this.#parts = parts;
  }

  open(socket: Socket): void {
    this.#socket = socket;
    this.#run((handler) => handler.open(socket));
  }

  message(message: string | Uint8Array): void {
    this.#run((handler) => handler.message(message));
  }

  drain(): void {
    this.#run((handler) => handler.drain?.());
  }

  close(code: number, reason: string): void {
    void this.#close(code, reason);
  }

  retire(): void {
    this.#run((handler) => handler.retire?.());
  }

  /** Closes the socket because the server is stopping. Clients connect again after 1012. */
  shutdown(): void {
    const { handler } = this.#parts;
    this.#run(() =>
      handler.shutdown === undefined ? this.#end(1012, "The server is going down.") : handler.shutdown(),
    );
  }

  #end(code: number, reason: string): void {
    this.#socket?.close(code, reason);
  }

  async #close(code: number, reason: string): Promise<void> {
    const { handler, onEnd, onFailure } = this.#parts;
    try {
      await handler.close(code, reason);
    } catch (thrown) {
      onFailure(thrown);
    } finally {
      onEnd();
    }
  }

  #run(step: (handler: SocketHandler) => MaybePromise): void {
    try {
      const going = step(this.#parts.handler);
      if (going instanceof Promise) going.catch((thrown: unknown) => this.#fail(thrown));
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #fail(thrown: unknown): void {
    this.#parts.onFailure(thrown);
    this.#end(1011, "The gateway failed.");
  }
}

/** The log entry of an exception: its position in the code and not its message, which may quote the client. */
function failureOf(thrown: unknown): object {
  const { code } = toGatewayError(thrown);
  if (!(thrown instanceof Error)) return { error: code };
  return { error: code, kind: thrown.name, stack: thrown.stack?.replaceAll(thrown.message, "") };
}
