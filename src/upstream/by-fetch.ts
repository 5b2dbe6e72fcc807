import { abortSignalOf, type AskUpstream, type BodySink, type Fetch, type ReplyBody } from "../core/index.ts";

/** Asks by `fetch`: slower than a connection of our own, but it knows proxies, and sends streams. */
export function askByFetch(fetch: Fetch): AskUpstream {
  return async ({ url, method, headers, body, signal }) => {
    const whole = isPieces(body) ? Buffer.concat(body) : body;
    const response = await fetch(url, {
      method,
      headers,
      ...(whole === undefined ? {} : { body: whole }),
      signal: abortSignalOf(signal),
      redirect: "manual",
    });
    return { status: response.status, headers: response.headers, body: new FetchedBody(response.body) };
  };
}

/** `Array.isArray` doesn't know readonly arrays. */
function isPieces(body: unknown): body is readonly Uint8Array[] {
  return Array.isArray(body);
}

/** What is used of a stream's reader. */
interface PieceReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Pulls a stream for a sink that is pushed to. */
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
      // It may be the reader's own failure: then more would come.
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
