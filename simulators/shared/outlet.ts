import type { ServerResponse } from "node:http";
import { constants, createGzip, type Gzip } from "node:zlib";

import type { Headers } from "./types.ts";

/** How the bytes of one answer leave: whole, in pieces, or gzip-encoded piece by piece. */
export interface OutletOptions {
  /** Most bytes of one write; 0 for no limit. */
  readonly splitBytes: number;
  readonly gzip: boolean;
}

/**
 * The sending end of one answer. Every write is flushed before the next one. Nothing is sent after the caller has
 * disconnected, and no method ever rejects.
 */
export class Outlet {
  readonly #response: ServerResponse;
  readonly #splitBytes: number;
  readonly #encoder: StreamEncoder | null;
  readonly #gone = new AbortController();
  #finished = false;

  constructor(response: ServerResponse, options: OutletOptions) {
    this.#response = response;
    this.#splitBytes = options.splitBytes;
    this.#encoder = options.gzip ? new StreamEncoder() : null;
    response.on("close", () => this.#gone.abort());
    // A caller that disconnects during a write is reported by "close"; the error adds nothing.
    response.on("error", () => this.#gone.abort());
  }

  /** Fires when the connection is closed, by either side. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** True once the answer was ended on purpose, with or without a proper end. */
  get finished(): boolean {
    return this.#finished;
  }

  open(status: number, headers: Headers): void {
    if (this.gone.aborted) return;
    const lines: { [name: string]: string | string[] } = {};
    for (const [name, value] of Object.entries(headers)) lines[name] = typeof value === "string" ? value : [...value];
    if (this.#encoder !== null) lines["content-encoding"] = "gzip";
    this.#response.writeHead(status, lines);
    this.#response.flushHeaders();
  }

  /** Writes and waits until the bytes are flushed or the caller has disconnected. */
  async write(bytes: Uint8Array): Promise<void> {
    const encoded = this.#encoder === null ? bytes : await this.#encoder.encode(bytes);
    await this.#writePieces(encoded);
  }

  async end(): Promise<void> {
    if (this.#encoder !== null) await this.#writePieces(await this.#encoder.finish());
    if (this.gone.aborted) return;
    this.#finished = true;
    this.#response.end();
  }

  /** Cuts the connection after the written bytes, without a proper end of the answer. */
  async cut(): Promise<void> {
    if (this.gone.aborted) return;
    await flushed();
    this.#finished = true;
    this.#response.socket?.destroy();
  }

  /** Resets the connection: the caller sees no byte of an answer. */
  reset(): void {
    if (this.gone.aborted) return;
    this.#finished = true;
    this.#response.socket?.resetAndDestroy();
  }

  /** Leaves the connection open until the caller closes it. */
  stall(): Promise<void> {
    if (this.gone.aborted) return Promise.resolve();
    return new Promise((resolve) => this.gone.addEventListener("abort", () => resolve(), { once: true }));
  }

  async #writePieces(bytes: Uint8Array): Promise<void> {
    const size = this.#splitBytes > 0 ? this.#splitBytes : Math.max(1, bytes.length);
    for (let start = 0; start < bytes.length; start += size) {
      if (this.gone.aborted) return;
      const accepted = this.#response.write(bytes.subarray(start, start + size));
      await (accepted ? flushed() : this.#drained());
    }
  }

  #drained(): Promise<void> {
    if (this.gone.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#response.off("drain", end);
        this.gone.removeEventListener("abort", end);
        resolve();
      };
      this.#response.on("drain", end);
      this.gone.addEventListener("abort", end, { once: true });
    });
  }
}

/** Lets the event loop pass the written bytes to the kernel. */
function flushed(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One gzip stream that gives out all bytes of a piece before it takes the next. */
class StreamEncoder {
  readonly #gzip: Gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  #pieces: Uint8Array[] = [];

  constructor() {
    this.#gzip.on("data", (piece: Uint8Array) => this.#pieces.push(piece));
  }

  encode(bytes: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve) => {
      this.#gzip.write(bytes);
      this.#gzip.flush(constants.Z_SYNC_FLUSH, () => setImmediate(() => resolve(this.#take())));
    });
  }

  finish(): Promise<Uint8Array> {
    return new Promise((resolve) => {
      this.#gzip.once("end", () => resolve(this.#take()));
      this.#gzip.end();
    });
  }

  #take(): Uint8Array {
    const taken = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return taken;
  }
}
