import type { BodySink, ReplyBody } from "../core/index.ts";

/** A whole body; `exceeded` if it has more bytes than permitted. */
export type Collected = { bytes: Buffer } | { exceeded: true };

/**
 * Collects a whole body within a bound. The bound is checked while bytes arrive, so a body that is too long takes no
 * more memory than permitted. Data that has already arrived needs no promise. `onPiece` is called with the size
 * of every piece. Rejects if the body breaks off, and with an error that `onPiece` throws.
 */
export function collectBody(
  body: ReplyBody,
  bytesMax: number,
  onPiece?: (bytes: number) => void,
): Collected | Promise<Collected> {
  const collector = new Collector(body, bytesMax, onPiece);
  body.flowTo(collector);
  return collector.result;
}

class Collector implements BodySink {
  readonly #body: ReplyBody;
  readonly #bytesMax: number;
  readonly #onPiece: ((bytes: number) => void) | undefined;
  /** Usually the only piece. */
  #first: Buffer | undefined;
  #further: Buffer[] | undefined;
  #size = 0;
  #collected: Collected | undefined;
  #waiting: PromiseWithResolvers<Collected> | undefined;
  #failure: { cause: unknown } | undefined;

  constructor(body: ReplyBody, bytesMax: number, onPiece: ((bytes: number) => void) | undefined) {
    this.#body = body;
    this.#bytesMax = bytesMax;
    this.#onPiece = onPiece;
  }

  get result(): Collected | Promise<Collected> {
    if (this.#collected !== undefined) return this.#collected;
    if (this.#failure !== undefined) return Promise.reject(this.#failure.cause);
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  onBytes(bytes: Buffer): void {
    if (this.#collected !== undefined || this.#failure !== undefined) return;
    try {
      this.#onPiece?.(bytes.length);
    } catch (cause) {
      this.#body.cancel();
      this.onFailure(cause);
      return;
    }
    this.#size += bytes.length;
    if (this.#size > this.#bytesMax) {
      this.#body.cancel();
      this.#finish({ exceeded: true });
    } else if (this.#first === undefined) {
      this.#first = bytes;
    } else {
      this.#further ??= [];
      this.#further.push(bytes);
    }
  }

  onEnd(): void {
    const first = this.#first ?? Buffer.alloc(0);
    const bytes = this.#further === undefined ? first : Buffer.concat([first, ...this.#further], this.#size);
    this.#finish({ bytes });
  }

  onFailure(cause: unknown): void {
    this.#failure ??= { cause };
    this.#waiting?.reject(cause);
  }

  #finish(collected: Collected): void {
    this.#collected ??= collected;
    this.#waiting?.resolve(this.#collected);
  }
}
