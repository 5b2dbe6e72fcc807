import { BadReply } from "./bad-reply.ts";
import { CertificateError } from "./certificate-error.ts";
import { ReplyReader } from "./reply-reader.ts";
import type { ReplyHead } from "./reply-head.ts";
import { type OutgoingRequest, RequestWriter } from "./request-writer.ts";
import type { RequestTarget } from "./request-head.ts";
import { StaleConnection } from "./stale-connection.ts";

/**
 * The request that a connection serves. Each of these calls may end it, and begin another one on the same connection.
 */
export interface ConnectionUser {
  /** Whether the request may be performed twice: a GET. */
  readonly isRepeatable: boolean;
  /** Called when the connection can send the request. */
  outgoing(): OutgoingRequest;
  begin(head: ReplyHead): void;
  /** A piece of the body; the receiver owns its bytes. */
  receive(bytes: Buffer): void;
  /** The reply is complete with this last piece; the connection may serve another request from now on. */
  end(lastBytes: Buffer | undefined): void;
  /** The connection is closed. */
  fail(cause: unknown): void;
  /**
   * The reused connection is closed without a byte of a reply, and either no byte of the request has left this process, so
   * that the upstream cannot have begun, or the request may be performed twice.
   */
  retryOnNewConnection(): void;
}

/** The owner of connections between two requests. */
export interface ConnectionOwner {
  release(connection: Connection): void;
  /** The connection closed while idle. */
  forget(connection: Connection): void;
}

/**
 * One connection to an upstream, with one request at a time:
 *
 *   connecting (→ handshaking) → busy ⇄ idle
 *
 * and from each of them `closed`. It is busy while it serves a request. No byte of a request is written before the
 * certificate has been verified for the host.
 */
export class Connection {
  readonly origin: string;
  /** The time, in ms, from which an idle connection is not reused. */
  idleUntil = 0;
  /** The keep-alive time announced by the upstream. */
  keepAliveMs: number | undefined;
  readonly #owner: ConnectionOwner;
  readonly #isSecure: boolean;
  readonly #reader = new ReplyReader();
  readonly #writer = new RequestWriter();
  /** Runs until the connection can carry its first request. */
  #connectTimer: Timer | undefined;
  #socket: Bun.Socket<Connection> | null = null;
  #user: ConnectionUser | null;
  #isOpen = false;
  #isClosed = false;
  #isPaused = false;
  /** The current request is not the connection's first. */
  #isReused = false;

  constructor({ origin, isSecure }: RequestTarget, keeper: ConnectionOwner, user: ConnectionUser) {
    this.origin = origin;
    this.#isSecure = isSecure;
    this.#owner = keeper;
    this.#user = user;
  }

  /** Gives up connecting, including the TLS handshake, after this time. */
  limitConnecting(milliseconds: number): void {
    this.#connectTimer = setTimeout(() => {
      this.lose(new Error("The connection to the upstream could not be opened in time."));
    }, milliseconds);
  }

  /** Starts a request on an idle connection. */
  reuse(user: ConnectionUser): void {
    this.#user = user;
    this.#isReused = true;
    this.#socket?.ref();
    this.#start();
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket?.resume();
  }

  /** Closes the connection immediately, without notifying its user. */
  destroy(): void {
    this.#user = null;
    this.#isClosed = true;
    clearTimeout(this.#connectTimer);
    this.#writer.stop();
    const socket = this.#socket;
    this.#socket = null;
    socket?.terminate();
  }

  /** Closes an idle connection gracefully. */
  close(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#isClosed = true;
    // `end` would keep a TLS socket until the upstream has closed its side, too.
    socket?.close();
  }

  opened(socket: Bun.Socket<Connection>): void {
    if (this.#isClosed) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    if (!this.#isSecure) this.#begin();
  }

  onHandshake(isTrusted: boolean, problem: Error | null): void {
    if (isTrusted && problem === null && this.#socket?.authorized === true) {
      if (!this.#isOpen) this.#begin();
      return;
    }
    // A connection that was lost, or that speaks another protocol, has no certificate.
    this.lose(problem !== null && isBroken(problem) ? problem : new CertificateError(problem));
  }

  drained(): void {
    if (this.#socket !== null && !this.#writer.drain(this.#socket)) this.lose(closedEarly());
  }

  receive(bytes: Buffer): void {
    const user = this.#user;
    if (this.#isClosed) return;
    if (user === null || !this.#isOpen) {
      this.lose(new Error("The upstream sent bytes that nobody asked for."));
      return;
    }
    const reader = this.#reader;
    const hadHead = reader.head !== null;
    let piece: Buffer | undefined;
    try {
      piece = reader.read(bytes);
    } catch (cause) {
      // The reply has begun: a call that was answered must not be sent again.
      if (!hadHead && reader.head !== null) user.begin(reader.head);
      this.lose(cause);
      return;
    }
    const { head } = reader;
    if (head === null) return;
    const isOver = reader.isOver;
    if (isOver) this.#release(head);
    if (!hadHead) user.begin(head);
    if (isOver) user.end(piece);
    else if (piece !== undefined) user.receive(piece);
  }

  /** The upstream sends no more data. */
  ended(): void {
    const user = this.#user;
    if (user !== null && this.#reader.close()) {
      this.destroy();
      user.end(undefined);
      return;
    }
    this.lose(closedEarly());
  }

  /** The connection cannot be used any more. */
  lose(cause: unknown): void {
    if (this.#isClosed) return;
    const user = this.#user;
    this.destroy();
    if (user === null) this.#owner.forget(this);
    else if (!this.#isReused || this.#reader.hasBytes) user.fail(explained(cause, this.#reader));
    else if (user.isRepeatable || !this.#writer.hasWritten) user.retryOnNewConnection();
    else user.fail(new StaleConnection(cause));
  }

  #begin(): void {
    this.#isOpen = true;
    clearTimeout(this.#connectTimer);
    this.#start();
  }

  #start(): void {
    const socket = this.#socket;
    const user = this.#user;
    this.#reader.start();
    if (socket === null || user === null || !this.#writer.start(socket, user.outgoing())) this.lose(closedEarly());
  }

  /** The reply is complete: returns the connection to its owner if it can carry another request. */
  #release(head: ReplyHead): void {
    this.#user = null;
    const socket = this.#socket;
    // An upstream may answer before it has read the whole request.
    if (socket === null || !head.keepsAlive || this.#reader.hasExcess || !this.#writer.isDone) {
      this.destroy();
      return;
    }
    this.resume();
    socket.unref();
    this.keepAliveMs = head.keepAliveMs;
    this.#owner.release(this);
  }
}

/** Distinguishes an incomplete head from a connection without any reply. */
function explained(cause: unknown, { hasBytes, head }: ReplyReader): unknown {
  if (!hasBytes || head !== null || cause instanceof BadReply) return cause;
  return new BadReply("its head broke off", { cause });
}

/** One object for all connections; the state of a connection is its socket's data. */
const socketHandler: Bun.SocketHandler<Connection> = {
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, isTrusted, problem) => socket.data.onHandshake(isTrusted, problem),
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.ended(),
  close: (socket, cause) => (cause === undefined ? socket.data.ended() : socket.data.lose(cause)),
  error: (socket, cause) => socket.data.lose(cause),
  timeout: (socket) => socket.data.lose(new Error("The connection to the upstream timed out.")),
};

/** The only supported protocol, in the TLS encoding with its length first. */
const protocols = "\u0008http/1.1";

interface ConnectOptions {
  /** Certificates in PEM that are trusted instead of the well-known ones. */
  trusted: string | undefined;
  /** The address to connect to; by default, one that the host's name resolves to. */
  address: string | undefined;
}

/** Connects for the user. Failures are reported to the user. */
export function connect(
  target: RequestTarget,
  keeper: ConnectionOwner,
  user: ConnectionUser,
  { trusted, address }: ConnectOptions,
): Connection {
  const { hostname, port, isSecure } = target;
  const connection = new Connection(target, keeper, user);
  const lose = (cause: unknown): void => connection.lose(cause);
  const tls = {
    // The name that the certificate must contain.
    serverName: hostname,
    ALPNProtocols: protocols,
    rejectUnauthorized: true,
    ...(trusted === undefined ? {} : { ca: trusted }),
  };
  const options = { hostname: address ?? hostname, port, data: connection, socket: socketHandler };
  try {
    Bun.connect<Connection>(isSecure ? { ...options, tls } : options).catch(lose);
  } catch (cause) {
    // Asynchronously, when the user knows the connection.
    queueMicrotask(() => lose(cause));
  }
  return connection;
}

function closedEarly(): Error {
  return new Error("The upstream closed the connection before the end of its reply.");
}

function isBroken(problem: Error): boolean {
  return "code" in problem && (problem.code === "EPROTO" || problem.code === "ECONNRESET");
}
