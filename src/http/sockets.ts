/** WebSockets, as features see them, and those that are open. */
import { GatewayError, toGatewayError } from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";

/**
 * What becomes of a message: it goes out; it waits in memory, since the client doesn't read, and `drain` follows once
 * nothing waits any more; or it is lost, since the socket is closed, or about to be because too much waits.
 */
export type Sending = "sent" | "waiting" | "lost";

/** An open WebSocket. */
export interface Socket {
  send(message: string | Uint8Array): Sending;
  ping(): void;
  /** Ends it. The code is 1000, 1001, 1011 or one from 3000 to 4999; the reason has 123 bytes at most. */
  close(code: number, reason?: string): void;
}

type MaybePromise = void | Promise<void>;

/** What a feature does with one WebSocket. Where it throws or rejects, the socket is closed with 1011. */
export interface SocketHandler {
  open(socket: Socket): MaybePromise;
  message(message: string | Uint8Array): MaybePromise;
  drain?(): MaybePromise;
  /**
   * Ends what the socket was used for: called once, with 1006 where the connection broke off or never opened. Until it
   * resolves a server that is to stop waits for it.
   */
  close(code: number, reason: string): MaybePromise;
}

/** The answer of a route that takes the WebSocket. */
export interface AcceptedSocket {
  socket: SocketHandler;
  /** One of the subprotocols that the client offers. */
  protocol?: string;
  /** Of the answer to the handshake. */
  headers?: Readonly<Record<string, string>>;
}

/** What the server reports of one WebSocket. None of these throws. */
export interface SocketEvents {
  open(socket: Socket): void;
  message(message: string | Uint8Array): void;
  drain(): void;
  close(code: number, reason: string): void;
}

/** Answers a handshake, with these headers. False where it is none, or its client has gone; nothing is reported then. */
export type Upgrade = (request: Request, events: SocketEvents, headers: Readonly<Record<string, string>>) => boolean;

export interface SocketsOptions {
  upgrade: Upgrade;
  logger: Logger;
}

/** Which request a socket came from. */
interface Handshake {
  request: Request;
  requestId: string;
  /** Of the answer, besides those that the route gives. */
  headers: Readonly<Record<string, string>>;
}

export class Sockets {
  readonly #options: SocketsOptions;
  readonly #open = new Set<OpenSocket>();
  #closing = false;

  constructor(options: SocketsOptions) {
    this.#options = options;
  }

  /** How many have not ended, those included whose handlers are still ending their work. */
  get active(): number {
    return this.#open.size;
  }

  /** Turns the connection of a request into a WebSocket. Throws 426 for a request that is no proper handshake. */
  accept({ request, requestId, headers }: Handshake, accepted: AcceptedSocket): Response {
    const { upgrade, logger } = this.#options;
    const socket = new OpenSocket({
      handler: accepted.socket,
      onEnd: () => void this.#open.delete(socket),
      onFailure: (thrown) => logger.error({ request_id: requestId, ...failureOf(thrown) }, "socket failed"),
    });
    this.#open.add(socket);
    if (this.#closing) {
      // Its handshake was under way when the server began to go down.
      socket.close(1006, "");
      throw new GatewayError("shutting_down", "The server is going down.", { retryAfterSeconds: 1 });
    }
    // An empty one is left out; without it Bun would choose the first that the client offers, be it a token.
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

  /** Closes those that are still open, and takes no more, since the server is going down. */
  closeAll(): void {
    this.#closing = true;
    for (const socket of this.#open) socket.end(1001, "The server is going down.");
  }
}

/** Throws 426 where a request doesn't ask for a WebSocket. */
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

/** Stands between the server and a feature's handler, whose failures end the socket and go no further. */
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

  end(code: number, reason: string): void {
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
    this.end(1011, "The gateway failed.");
  }
}

/** What the log says of a failure: where it happened, and not its message, which may quote what was said. */
function failureOf(thrown: unknown): object {
  const { code } = toGatewayError(thrown);
  if (!(thrown instanceof Error)) return { error: code };
  return { error: code, kind: thrown.name, stack: thrown.stack?.replaceAll(thrown.message, "") };
}
