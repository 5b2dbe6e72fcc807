import { abortSignalOf, type AskUpstream, type BodySink, type Fetch, type ReplyBody } from "../core/index.ts";

/** Sends the request with `fetch`: slower than our own connections, but it supports proxies and streamed bodies. */
export function askByFetch(fetch: Fetch): AskUpstream {
  return async ({ url, method, headers, body, signal, onSent, address }) => {
    if (address !== undefined) throw new TypeError("fetch cannot connect to a given address");
    const whole = isPieces(body) ? Buffer.concat(body) : body;
    // `fetch` does not report when it writes the request.
    onSent?.(true);
    const response = await fetch(url, {
      method,
      headers,
      ...(whole === undefined ? {} : { body: whole }),
      signal: abortSignalOf(signal),
      redirect: "manual",
      // On a connection that has been used before, `fetch` would send a DELETE again by itself.
      ...(method === "DELETE" ? { keepalive: false } : {}),
    });
    return { status: response.status, headers: response.headers, body: new FetchedBody(response.body) };
  };
}

/** `Array.isArray` does not narrow readonly arrays. */
function isPieces(body: unknown): body is readonly Uint8Array[] {
  return Array.isArray(body);
}

/** The used part of a stream's reader. */
interface PieceReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Pulls a stream for a sink that receives pushed data. */
class FetchedBody implements ReplyBody {
  readonly #reader: PieceReader | undefined;
  #resumed: PromiseWithResolvers<void> | undefined;
  #cancelled = false;

  constructor(stream: ReadableStream<Uint8Array> | null) {
    this.#reader = stream?.getReader();
  }

  flowTo(sink: BodySink): void {
    void this.#flow(sink);
  }

  async #flow(sink: BodySink): Promise<void> {
    try {
      for (let piece = await this.#next(); piece !== undefined; piece = await this.#next()) {
        if (this.#cancelled) return;
        sink.onBytes(piece);
        await this.#resumed?.promise;
      }
    } catch (cause) {
      if (this.#cancelled) return;
      // The failure may be the reader's own: then more data would arrive.
      this.cancel();
      sink.onFailure(cause);
      return;
    }
    if (!this.#cancelled) sink.onEnd();
  }

  async #next(): Promise<Buffer | undefined> {
    const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined };
    return done || value === undefined ? undefined : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }

  pause(): void {
    this.#resumed ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  cancel(): void {
    this.#cancelled = true;
    this.resume();
    this.#reader?.cancel().catch(() => undefined);
  }
}
