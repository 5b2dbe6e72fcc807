import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
  type InflateRaw,
  type ZstdDecompress,
} from "node:zlib";
import type { AbortListener, BodySink, CallSignal, ReplyBody, UpstreamReply } from "../core/index.ts";

type Decoder = BrotliDecompress | Gunzip | Inflate | InflateRaw | ZstdDecompress;

/** Creates the decoder of a body that begins with these bytes. Its output is limited to pieces of 16 KiB. */
type MakeDecoder = (first: Buffer) => Decoder;

/** A body that was encoded more often is left as it is: nobody does that, except for bombs. */
const LAYERS_MAX = 2;

const decoders: ReadonlyMap<string, MakeDecoder> = new Map<string, MakeDecoder>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  // The format of zlib by definition; some servers send the bare one.
  ["deflate", ([first = 0]) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw())],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress()],
]);

/** Headers of a decoded reply that only apply to the encoded bytes. */
const untrueHeaders = new Set(["content-encoding", "content-length"]);

/** The decoders of a `content-encoding`, in the order of their use; none if one is unknown. */
function decodersOf(encoding: string): MakeDecoder[] {
  const names = encoding.toLowerCase().split(",");
  const found = names.flatMap((name) => decoders.get(name.trim()) ?? []).toReversed();
  return found.length === names.length && found.length <= LAYERS_MAX ? found : [];
}

/** Decodes a reply that is encoded, whether or not that was requested. */
export function decodedReply(reply: UpstreamReply, encoding: string, signal: CallSignal): UpstreamReply {
  const { status, headers, body } = reply;
  const makers = decodersOf(encoding);
  if (makers.length === 0) return reply;
  return {
    status,
    headers: { get: (name) => (untrueHeaders.has(name) ? null : headers.get(name)) },
    body: makers.reduce((encoded, makeDecoder) => new DecodedBody(encoded, makeDecoder, signal), body),
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
    // The encoded body can have ended while this one has not.
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
    this.#decoder ??= this.#open(bytes);
    if (!this.#decoder.write(bytes)) this.#encoded.pause();
  }

  onEnd(): void {
    if (this.#isOver) return;
    // A reply without a body is not even an empty encoded one.
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

  #open(first: Buffer): Decoder {
    const decoder = this.#makeDecoder(first);
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
      // An exception here would have no handler and end the process.
      this.#break(cause);
    }
  }

  #break(cause: unknown): void {
    this.#encoded.cancel();
    this.onFailure(cause);
  }

  /** Returns the sink to notify of the end, unless it was notified already. */
  #finish(): BodySink | null {
    if (this.#isOver) return null;
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this);
    this.#decoder?.destroy();
    return this.#sink;
  }
}
