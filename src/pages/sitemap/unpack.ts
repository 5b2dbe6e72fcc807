import { createGunzip } from "node:zlib";
import { PageError } from "../page-error.ts";

/** Servers pack files that are packed already. */
const layersMax = 2;

export interface Unpacked {
  bytes: Uint8Array;
  /** There is more, or the rest could not be unpacked. */
  isCut: boolean;
}

/**
 * Unpacks a file that is packed by gzip, up to a bound.
 * @throws PageError `malformed` if nothing of it can be unpacked.
 */
export async function unpack(bytes: Uint8Array, bytesMax: number): Promise<Unpacked> {
  let unpacked: Unpacked = { bytes, isCut: false };
  for (let layer = 0; layer < layersMax && unpacked.bytes[0] === 0x1f && unpacked.bytes[1] === 0x8b; layer += 1) {
    const inner = await gunzip(unpacked.bytes, bytesMax);
    unpacked = { bytes: inner.bytes, isCut: inner.isCut || unpacked.isCut };
  }
  const isOver = unpacked.bytes.length > bytesMax;
  return { bytes: unpacked.bytes.subarray(0, bytesMax), isCut: unpacked.isCut || isOver };
}

/** One layer. Piece by piece, since a bomb has to be left in time, and the beginning of a file is worth reading. */
function gunzip(packed: Uint8Array, bytesMax: number): Promise<Unpacked> {
  const { promise, resolve, reject } = Promise.withResolvers<Unpacked>();
  const stream = createGunzip();
  const pieces: Buffer[] = [];
  let length = 0;
  const finish = (isCut: boolean): void => {
    resolve({ bytes: Buffer.concat(pieces), isCut });
    stream.destroy();
  };
  stream
    .on("data", (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length > bytesMax) finish(true);
    })
    .on("end", () => finish(false))
    .on("error", (cause) => {
      if (length > 0) finish(true);
      else reject(new PageError("malformed", "the sitemap can't be unpacked", { cause }));
    });
  stream.end(packed);
  return promise;
}
