import type { Spool } from "./spool.ts";

/** A form for an upstream. */
export interface OutgoingForm {
  readonly contentType: string;
  /** The number of bytes of the body, sent as its `content-length`. */
  readonly length: number;
  /** Creates the body, once per attempt. Throws once the received form is closed. */
  open(): ReadableStream<Uint8Array> | Uint8Array;
}

/** New bytes, or a range of the received body. */
export type Segment = Uint8Array | { readonly start: number; readonly end: number };

/** Bytes read from the spool at a time. */
const PIECE_BYTES = 128 * 1024;

const lengthOf = (segment: Segment): number =>
  segment instanceof Uint8Array ? segment.byteLength : segment.end - segment.start;

export function outgoingForm(contentType: string, spool: Spool, segments: readonly Segment[]): OutgoingForm {
  const length = segments.reduce((sum, segment) => sum + lengthOf(segment), 0);
  return {
    contentType,
    length,
    open: () => {
      const { bytes } = spool;
      if (bytes === undefined) return streamOf(spool, segments);
      const pieces = segments.map((segment) =>
        segment instanceof Uint8Array ? segment : bytes.subarray(segment.start, segment.end),
      );
      return Buffer.concat(pieces, length);
    },
  };
}

/** Reads on demand only. */
export function streamOf(spool: Spool, segments: readonly Segment[]): ReadableStream<Uint8Array> {
  const pieces = piecesOf(spool, segments);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

/** None of them is empty. */
export async function* piecesOf(spool: Spool, segments: readonly Segment[]): AsyncGenerator<Uint8Array, undefined> {
  for (const segment of segments) {
    if (segment instanceof Uint8Array) {
      if (segment.byteLength > 0) yield segment;
      continue;
    }
    for (let start = segment.start; start < segment.end; start += PIECE_BYTES) {
      yield await spool.read(start, Math.min(start + PIECE_BYTES, segment.end));
    }
  }
}
