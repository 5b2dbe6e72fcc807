import type { MessagePort } from "node:worker_threads";
import { GatewayError, lowerThreadPriority } from "../../core/index.ts";
import type { TableReader } from "./table-reader.ts";
import { type RowsMessage, type RowsReply, STOP } from "./thread-protocol.ts";

interface Reading {
  chunks: AsyncIterator<Uint8Array<ArrayBuffer>, undefined>;
  abort: AbortController;
}

/**
 * The thread collects its garbage after texts of so many bytes. Left to itself it lets its memory grow by some 50 MB more; no call waits for
 * this thread.
 */
const COLLECTED_BYTES = 512 * 1024;

/** Reads the tables that a `TablesThread` asks for, until it stops the thread; `close` is called then. */
export function serveTables(tables: TableReader, port: MessagePort, close: () => void): void {
  lowerThreadPriority();
  const readings = new Map<number, Reading>();
  let written = 0;
  const read = async (id: number, { chunks }: Reading): Promise<void> => {
    const reply = await replyOf(id, chunks);
    if ("bytes" in reply) written += reply.bytes.byteLength;
    else readings.delete(id);
    // The memory of the chunk goes to the other thread.
    port.postMessage(reply, "bytes" in reply ? [reply.bytes.buffer] : []);
    if (written < COLLECTED_BYTES) return;
    written = 0;
    Bun.gc(true);
  };
  port.on("message", (message: RowsMessage | typeof STOP) => {
    if (message === STOP) {
      close();
      port.close();
      return;
    }
    const { id } = message;
    if ("request" in message) {
      const abort = new AbortController();
      const reading = { chunks: tables.read(message.request, abort.signal), abort };
      readings.set(id, reading);
      void read(id, reading);
      return;
    }
    const reading = readings.get(id);
    if (reading === undefined) return;
    if ("next" in message) return void read(id, reading);
    readings.delete(id);
    reading.abort.abort();
    void reading.chunks.return?.();
  });
}

async function replyOf(id: number, chunks: Reading["chunks"]): Promise<RowsReply> {
  try {
    const { done, value } = await chunks.next();
    if (done === true) return { id, end: true };
    return { id, bytes: value };
  } catch (reason) {
    const message = reason instanceof Error ? reason.message : String(reason);
    const { code, param } = reason instanceof GatewayError ? reason : { code: undefined, param: undefined };
    return { id, failure: { message, code, param } };
  }
}
