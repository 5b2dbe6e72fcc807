import { MessageReader } from "../http1/message-reader.ts";
import type { MessageSink } from "../http1/message-reader.ts";
import { SendQueue } from "../http1/send-queue.ts";
import { AnswerCheck } from "./answer-check.ts";
import type { Expectation } from "./protocol.ts";

export interface ConnectionOwner {
  /** A piece of a stream came; `events` counts those of this answer so far. */
  eventsSeen(connection: Connection, events: number): void;
  /** The answer has ended; `problem` describes its error, if any. The connection may be closed by now. */
  answered(connection: Connection, problem: string | null): void;
  /** Closed by the server or the network; `problem` is null when no answer was under way. */
  closed(connection: Connection, problem: string | null): void;
}

/** One keep-alive connection that sends one request at a time. Times are `performance.now()`, ms. */
export class Connection implements MessageSink {
  startedAt = 0;
  /** 0 until the first event of the present answer. */
  firstEventAt = 0;
  readonly #owner: ConnectionOwner;
  readonly #check: AnswerCheck;
  readonly #reader = new MessageReader("response", this);
  readonly #queue = new SendQueue();
  #socket: Bun.Socket<Connection> | null = null;
  #busy = false;

  private constructor(owner: ConnectionOwner, expectation: Expectation) {
    this.#owner = owner;
    this.#check = new AnswerCheck(expectation);
  }

  /** Rejects when the connection is refused. */
  static async open(port: number, expectation: Expectation, owner: ConnectionOwner): Promise<Connection> {
    const connection = new Connection(owner, expectation);
    connection.#socket = await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port,
      data: connection,
      socket: socketHandlers,
    });
    connection.#socket.setNoDelay(true);
    return connection;
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  send(request: Buffer): void {
    if (this.#socket === null) return;
    this.#busy = true;
    this.firstEventAt = 0;
    this.startedAt = performance.now();
    this.#queue.send(this.#socket, request);
  }

  /** Disconnects immediately, without notifying the owner. */
  hangUp(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.terminate();
  }

  receive(bytes: Buffer): void {
    if (this.#socket === null) return;
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.hangUp();
      this.#owner.closed(this, String(error));
    }
  }

  drain(): void {
    if (this.#socket !== null) this.#queue.drain(this.#socket);
  }

  lost(reason: string): void {
    if (this.#socket === null) return;
    this.#socket = null;
    this.#owner.closed(this, this.#busy ? reason : null);
  }

  onHead(head: string): void {
    if (!this.#busy) throw new Error("an answer to no request");
    this.#check.head(head);
  }

  onBody(piece: Buffer): void {
    this.#check.body(piece);
    if (this.#socket === null || this.#check.events === 0) return;
    if (this.firstEventAt === 0) this.firstEventAt = performance.now();
    this.#owner.eventsSeen(this, this.#check.events);
  }

  onEnd(): void {
    if (this.#socket === null) return;
    this.#busy = false;
    if (this.#check.closesAfter) this.hangUp();
    this.#owner.answered(this, this.#check.problem());
  }
}

const socketHandlers: Bun.SocketHandler<Connection> = {
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket) => socket.data.lost("the connection was closed within an answer"),
  error: (socket, error) => socket.data.lost(String(error)),
};
