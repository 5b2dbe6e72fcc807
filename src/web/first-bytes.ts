import { Slices } from "../core/index.ts";
import type { BodySink, ReplyBody } from "../core/index.ts";

export interface FirstBytes {
  bytes: Buffer;
  /** Whether the body is longer. */
  isTruncated: boolean;
  /** What broke the body off before its end; undefined if nothing did. */
  failure: { cause: unknown } | undefined;
}

/**
 * Collects the beginning of a body, up to a bound, and cancels the rest. Resolves with what has come if the body breaks off;
 * rejects with an error that `onPiece` throws. It is called with the size of every piece.
 */
export function firstBytes(body: ReplyBody, bytesMax: number, onPiece?: (bytes: number) => void): Promise<FirstBytes> {
  const { promise, resolve, reject } = Promise.withResolvers<FirstBytes>();
  const pieces: Buffer[] = [];
  let length = 0;
  const collected = (rest: Omit<FirstBytes, "bytes">): void =>
    resolve(joined(pieces, Math.min(length, bytesMax)).then((bytes) => ({ bytes, ...rest })));
  const sink: BodySink = {
    onBytes(bytes) {
      if (length > bytesMax) return;
      try {
        onPiece?.(bytes.length);
      } catch (cause) {
        body.cancel();
        reject(cause);
        return;
      }
      pieces.push(bytes);
      length += bytes.length;
      if (length <= bytesMax) return;
      body.cancel();
      collected({ isTruncated: true, failure: undefined });
    },
    onEnd: () => collected({ isTruncated: false, failure: undefined }),
    onFailure: (cause) => collected({ isTruncated: false, failure: { cause } }),
  };
  body.flowTo(sink);
  return promise;
}

/** In slices: to join 50 MB in one go takes 50 ms. */
async function joined(pieces: readonly Buffer[], length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  const slices = new Slices();
  let at = 0;
  for (const piece of pieces) {
    if (slices.isOver) await slices.next();
    at += piece.copy(bytes, at);
  }
  return bytes;
}
