import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
  type ZstdDecompress,
} from "node:zlib";
import type { AbortListener, BodySink, CallSignal, ReplyBody, UpstreamReply } from "../core/index.ts";

type Decoder = BrotliDecompress | Gunzip | Inflate | ZstdDecompress;

/** Makes the decoder of a content encoding. What it gives at a time is bounded by its pieces of 16 KiB. */
type MakeDecoder = () => Decoder;

const decoders: ReadonlyMap<string, MakeDecoder> = new Map([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["deflate", () => createInflate()],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress()],
]);

/** Of the headers of a decoded reply, those that are true of the encoded bytes only. */
const untrueHeaders = new Set(["content-encoding", "content-length"]);

/** The decoder of a content encoding; undefined where it is not known here. */
export function decoderOf(encoding: string): MakeDecoder | undefined {
  return decoders.get(encoding.toLowerCase());
}

/** The reply as it was before its upstream encoded it, although none was asked to. */
export function decodedReply(reply: UpstreamReply, makeDecoder: MakeDecoder, signal: CallSignal): UpstreamReply {
  const { status, headers, body } = reply;
  return {
    status,
    headers: { get: (name) => (untrueHeaders.has(name) ? null : headers.get(name)) },
    body: new DecodedBody(body, makeDecoder, signal),
  };
}

class DecodedBody implements ReplyBody, BodySink, AbortListener {
  readonly #encoded: ReplyBody;
  readonly #makeDecoder: MakeDecoder;
  readonly #signal: CallSignal;
  #decoder: Decoder | null = null;
  #sink: BodySink | null = null;
  #isOver = false;
  #isHeldUp = false;

  constructor(encoded: ReplyBody, makeDecoder: MakeDecoder, signal: CallSignal) {
    this.#encoded = encoded;
    this.#makeDecoder = makeDecoder;
    this.#signal = signal;
  }

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    // The encoded body can be at its end while this one is not.
    this.#signal.addEventListener("abort", this);
    this.#encoded.flowTo(this);
  }

  pause(): void {
    this.#isHeldUp = true;
    this.#decoder?.pause();
    this.#encoded.pause();
  }

  resume(): void {
    this.#isHeldUp = false;
    this.#decoder?.resume();
    if (this.#decoder?.writableNeedDrain !== true) this.#encoded.resume();
  }

  cancel(): void {
    this.#finish();
    this.#encoded.cancel();
  }

  onBytes(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#decoder ??= this.#open();
    if (!this.#decoder.write(bytes)) this.#encoded.pause();
  }

  onEnd(): void {
    if (this.#isOver) return;
    // A reply without a body is not even an empty one of the encoding.
    if (this.#decoder === null) this.#finish()?.onEnd();
    else this.#decoder.end();
  }

  onFailure(cause: unknown): void {
    this.#finish()?.onFailure(cause);
  }

  /** The request's signal was aborted. */
  handleEvent(): void {
    this.#break(this.#signal.reason);
  }

  #open(): Decoder {
    const decoder = this.#makeDecoder();
    decoder.on("data", (bytes: Buffer) => this.#give(bytes));
    decoder.on("drain", () => {
      if (!this.#isHeldUp) this.#encoded.resume();
    });
    decoder.on("end", () => this.#finish()?.onEnd());
    decoder.on("error", (cause) => this.#break(cause));
    return decoder;
  }

  #give(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#sink?.onBytes(bytes);
    } catch (cause) {
      // Nobody is above a decoder: the process would go down.
      this.#break(cause);
    }
  }

  #break(cause: unknown): void {
    this.#encoded.cancel();
    this.onFailure(cause);
  }

  /** Returns the sink to be told of the end, where it has not been told. */
  #finish(): BodySink | null {
    if (this.#isOver) return null;
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this);
    this.#decoder?.destroy();
    return this.#sink;
  }
}
