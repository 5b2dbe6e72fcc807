/** Accepts WebSockets for features, and lists the open ones. */
import {
  type AcceptedSocket,
  GatewayError,
  limits,
  type MessageBounds,
  shuttingDown,
  type Socket,
  type SocketHandler,
  toGatewayError,
} from "../core/index.ts";
import type { OpenAnswers, Principal } from "../auth/index.ts";
import { type MemoryBudget, memoryExhausted } from "../streaming/index.ts";
import type { Logger } from "../telemetry/index.ts";

type MaybePromise = void | Promise<void>;

/** The events of one WebSocket. None of these methods throws. */
export interface SocketEvents {
  open(socket: Socket): void;
  message(message: string | Uint8Array): void;
  drain(): void;
  /** The client has sent a ping, or a pong, which may be the answer to one. */
  control(): void;
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
  memory: MemoryBudget;
  /** Ends the sockets of tokens that may no longer be used. */
  openAnswers: Pick<OpenAnswers, "add" | "remove">;
  /** How long a socket is silent before its client is pinged, and how long it may take to answer, in milliseconds. */
  pingAfterMs?: number;
  pongMsMax?: number;
}

/** How long a socket may be silent. */
const PING_AFTER_MS = 30_000;

/** How often silent sockets are looked for, as a share of how long they may be silent. */
const LOOKS = 6;

/** The share of the memory that the sockets of one user may reserve. */
const OWNER_SHARE = 1 / 2;

/** The memory for what the client of one socket may have sent of an unfinished message. */
export interface SocketMemory {
  /** May be called repeatedly. */
  free: () => void;
}

/** The request that a socket came from. */
interface Handshake {
  request: Request;
  requestId: string;
  principal: Pick<Principal, "tokenId" | "signedUntil">;
  /** Headers of the answer besides the route's. */
  headers: Readonly<Record<string, string>>;
  memory: SocketMemory;
}

export class Sockets {
  readonly #options: Required<SocketsOptions>;
  readonly #open = new Set<OpenSocket>();
  /** Bytes that are reserved, by user. */
  readonly #reserved = new Map<string, number>();
  #looking: ReturnType<typeof setInterval> | undefined;
  #closing = false;

  constructor(options: SocketsOptions) {
    this.#options = { pingAfterMs: PING_AFTER_MS, pongMsMax: limits.socketPongMsMax, ...options };
  }

  /** The number of sockets that have not ended, including those whose handlers are still ending their work. */
  get active(): number {
    return this.#open.size;
  }

  /**
   * Reserves the memory of a socket before its handshake is answered. A message is seen only once it is whole, so what has come of
   * it cannot be counted as it arrives. Throws 503 if there is too little.
   */
  reserve(user: string): SocketMemory {
    const { memory } = this.#options;
    const reserved = this.#reserved.get(user) ?? 0;
    const bytes = limits.socketMessageBytesMax;
    if (reserved > 0 && reserved + bytes > memory.bytesMax * OWNER_SHARE) throw memoryExhausted();
    const share = memory.share();
    share.add(bytes);
    this.#reserved.set(user, reserved + bytes);
    let isReserved = true;
    return {
      free: () => {
        if (!isReserved) return;
        isReserved = false;
        share.free();
        const left = (this.#reserved.get(user) ?? 0) - bytes;
        if (left > 0) this.#reserved.set(user, left);
        else this.#reserved.delete(user);
      },
    };
  }

  /** Turns the connection of a request into a WebSocket. Throws 426 for a request without a proper handshake. */
  accept({ request, requestId, principal, headers, memory }: Handshake, accepted: AcceptedSocket): Response {
    const { upgrade, logger, openAnswers } = this.#options;
    const socket = new OpenSocket({
      accepted,
      onEnd: () => {
        this.#open.delete(socket);
        openAnswers.remove(socket);
        memory.free();
        if (this.#open.size === 0) this.#stopLooking();
      },
      onFailure: (thrown) => logger.error({ request_id: requestId, ...failureOf(thrown) }, "socket failed"),
    });
    this.#open.add(socket);
    openAnswers.add(socket, principal);
    this.#look();
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

  /** Pings the clients of silent sockets from now on, and ends the sockets of those that do not answer. */
  #look(): void {
    const { pingAfterMs, pongMsMax } = this.#options;
    this.#looking ??= setInterval(() => {
      const now = performance.now();
      for (const socket of this.#open) socket.look(now, { pingAfterMs, pongMsMax });
    }, pingAfterMs / LOOKS);
    this.#looking.unref();
  }

  #stopLooking(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
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
  accepted: AcceptedSocket;
  /** Called once, when the handler has ended its work. */
  onEnd: () => void;
  onFailure: (thrown: unknown) => void;
}

/** Wraps a feature's handler: its exceptions end the socket and go no further. */
class OpenSocket implements SocketEvents {
  readonly #parts: OpenSocketParts;
  readonly #rate: MessageRate | undefined;
  #socket: Socket | undefined;
  #heardAt = performance.now();
  /** Of a ping that was not answered yet. */
  #pingedAt: number | undefined;
  /** What a client sends to a socket that is not read is not seen. */
  #isPaused = false;
  #isRefused = false;

  constructor(parts: OpenSocketParts) {
    this.#parts = parts;
    const { bounds } = parts.accepted;
    this.#rate = bounds && new MessageRate(bounds);
  }

  open(socket: Socket): void {
    this.#socket = socket;
    const watched: Socket = {
      ...socket,
      pause: () => {
        this.#isPaused = true;
        socket.pause();
      },
      resume: () => {
        this.#isPaused = false;
        this.#hear();
        socket.resume();
      },
    };
    this.#run((handler) => handler.open(watched));
  }

  message(message: string | Uint8Array): void {
    if (this.#isAdmitted(message)) this.#run((handler) => handler.message(message));
  }

  control(): void {
    this.#isAdmitted("");
  }

  /** Ends the socket for what exceeds its bounds. */
  #isAdmitted(message: string | Uint8Array): boolean {
    if (this.#isRefused) return false;
    this.#hear();
    const refused = this.#rate?.refusalOf(message);
    if (refused === undefined) return true;
    this.#isRefused = true;
    this.#end(refused.code, refused.reason);
    return false;
  }

  #hear(): void {
    this.#heardAt = performance.now();
    this.#pingedAt = undefined;
  }

  look(now: number, { pingAfterMs, pongMsMax }: Required<Pick<SocketsOptions, "pingAfterMs" | "pongMsMax">>): void {
    if (this.#isPaused) return;
    if (this.#pingedAt !== undefined) {
      if (now - this.#pingedAt >= pongMsMax) this.#socket?.terminate();
    } else if (now - this.#heardAt >= pingAfterMs) {
      this.#socket?.ping();
      this.#pingedAt = now;
    }
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
    this.#run((handler) =>
      handler.shutdown === undefined ? this.#end(1012, "The server is going down.") : handler.shutdown(),
    );
  }

  /** Ends the socket because its token may no longer be used. */
  abort(error: GatewayError): void {
    this.#run((handler) => (handler.revoke === undefined ? this.#end(1008, error.code) : handler.revoke(error)));
  }

  #end(code: number, reason: string): void {
    this.#socket?.close(code, reason);
  }

  async #close(code: number, reason: string): Promise<void> {
    const { accepted, onEnd, onFailure } = this.#parts;
    try {
      await accepted.socket.close(code, reason);
    } catch (thrown) {
      onFailure(thrown);
    } finally {
      accepted.onEnd?.();
      onEnd();
    }
  }

  #run(step: (handler: SocketHandler) => MaybePromise): void {
    try {
      const going = step(this.#parts.accepted.socket);
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

/** Counts the messages of one client against the bounds of its route. */
class MessageRate {
  readonly #bounds: MessageBounds;
  #second = -1;
  #messages = 0;

  constructor(bounds: MessageBounds) {
    this.#bounds = bounds;
  }

  /** How the socket is to be closed for this message; undefined if it may pass. */
  refusalOf(message: string | Uint8Array): { code: number; reason: string } | undefined {
    const { messagesPerSecondMax, messageBytesMax = Infinity } = this.#bounds;
    const second = Math.floor(performance.now() / 1_000);
    this.#messages = second === this.#second ? this.#messages + 1 : 1;
    this.#second = second;
    if (this.#messages > messagesPerSecondMax) return { code: 1008, reason: "rate_limit_exceeded" };
    const isTooLong = Number.isFinite(messageBytesMax) && Buffer.byteLength(message) > messageBytesMax;
    return isTooLong ? { code: 1009, reason: "message_too_large" } : undefined;
  }
}

/** The log entry of an exception: its position in the code and not its message, which may quote the client. */
function failureOf(thrown: unknown): object {
  const { code } = toGatewayError(thrown);
  if (!(thrown instanceof Error)) return { error: code };
  return { error: code, kind: thrown.name, stack: thrown.stack?.replaceAll(thrown.message, "") };
}
