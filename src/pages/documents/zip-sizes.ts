/** The signature of an entry in a ZIP archive's directory, and the bytes of its fixed part. */
const entrySignature = 0x02014b50;
const entryBytes = 46;

const endSignature = 0x06054b50;
const endBytes = 22;

/** Bytes of a comment after the directory. */
const commentBytesMax = 65_535;

/** The bytes that the entries of a ZIP archive unpack to, as in its directory; Infinity if it has none. */
export function unpackedBytes(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  if (end === undefined) return Infinity;
  let total = 0;
  let at = view.getUint32(end + 16, true);
  while (at + entryBytes <= bytes.length && view.getUint32(at, true) === entrySignature) {
    total += view.getUint32(at + 24, true);
    at += entryBytes + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return total;
}

function findEnd(view: DataView): number | undefined {
  const last = view.byteLength - endBytes;
  for (let at = last; at >= Math.max(0, last - commentBytesMax); at -= 1) {
    if (view.getUint32(at, true) === endSignature) return at;
  }
  return undefined;
}
