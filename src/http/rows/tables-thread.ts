/** Tables of a SQLite storage, read and written as text by a thread of their own: the one that answers calls gets their bytes. */
import { GatewayError, Thread } from "../../core/index.ts";
import type { OpenFile } from "../../storage/index.ts";
import type { TableReader, TableRequest } from "./table-reader.ts";
import { type RowsFailure, type RowsMessage, type RowsReply, STOP } from "./thread-protocol.ts";

/** Composes the thread's part. */
const PROGRAM = new URL("../../app/tables-thread.ts", import.meta.url);

type Chunk = IteratorResult<Uint8Array<ArrayBuffer>, undefined>;

/** Starts its thread with the first table, and again after it has failed. */
export class TablesThread implements TableReader {
  readonly #waiting = new Map<number, PromiseWithResolvers<Chunk>>();
  readonly #thread: Thread<RowsMessage | typeof STOP, RowsReply>;
  #nextId = 0;
  #isStopped = false;

  constructor(file: OpenFile) {
    this.#thread = new Thread({
      program: PROGRAM,
      data: file,
      onReply: (reply) => this.#receive(reply),
      onExit: (reason) => {
        for (const { reject } of this.#waiting.values()) reject(unavailable(reason));
        this.#waiting.clear();
      },
    });
  }

  async *read(request: TableRequest, signal: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
    const id = (this.#nextId += 1);
    const leave = (): void => this.#waiting.get(id)?.reject(interrupted());
    signal.addEventListener("abort", leave);
    let hasEnded = false;
    try {
      let asked: RowsMessage = { id, request };
      for (;;) {
        if (signal.aborted) throw interrupted();
        const { done, value } = await this.#ask(asked);
        if (done === true) {
          hasEnded = true;
          return undefined;
        }
        yield value;
        asked = { id, next: true };
      }
    } finally {
      signal.removeEventListener("abort", leave);
      this.#waiting.delete(id);
      // Its thread has forgotten a table that has ended.
      if (!hasEnded && this.#thread.isStarted) this.#send({ id, close: true });
    }
  }

  /** Ends the thread. Tables that are still read fail. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#thread.end(STOP);
  }

  #ask(message: RowsMessage): Promise<Chunk> {
    if (this.#isStopped) throw unavailable(new Error("the storage is closed"));
    // Another thread than the one that the table began in does not know it.
    if (!this.#thread.isStarted && !("request" in message)) throw unavailable(new Error("its thread has ended"));
    const waiting = Promise.withResolvers<Chunk>();
    this.#waiting.set(message.id, waiting);
    this.#send(message);
    return waiting.promise;
  }

  #send(message: RowsMessage): void {
    this.#thread.send(message);
    if (this.#waiting.size === 0 && !this.#isStopped) this.#thread.rest();
  }

  #receive(reply: RowsReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    // A command ends when it has its answers.
    if (this.#waiting.size === 0 && !this.#isStopped) this.#thread.rest();
    if ("bytes" in reply) waiting?.resolve({ done: false, value: reply.bytes });
    else if ("end" in reply) waiting?.resolve({ done: true, value: undefined });
    else waiting?.reject(failureOf(reply.failure));
  }
}

const interrupted = (): GatewayError => new GatewayError("request_interrupted", "The client went away.");

function failureOf({ message, code, param }: RowsFailure): Error {
  return code === undefined ? unavailable(new Error(message)) : new GatewayError(code, message, { param });
}

/** The reason may name the file: it is logged, and not answered. */
function unavailable(cause: unknown): GatewayError {
  return new GatewayError("storage_unavailable", "The storage can't be read.", { cause, retryAfterSeconds: 1 });
}
