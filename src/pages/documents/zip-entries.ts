/** The signature of an entry in a ZIP archive's directory, and the bytes of its fixed part. */
const entrySignature = 0x02014b50;
const entryBytes = 46;

/** The fixed part of the header before an entry's bytes. */
const localBytes = 30;

const endSignature = 0x06054b50;
const endBytes = 22;

/** Bytes of a comment after the directory. */
const commentBytesMax = 65_535;

export interface ZipEntry {
  name: string;
  /** Bytes that it unpacks to, as the directory claims. */
  size: number;
  /** 0 for stored bytes, 8 for deflated ones. */
  method: number;
  /** Its bytes in the archive, as they are packed. */
  packed: Uint8Array;
}

/** The entries in the directory of a ZIP archive; undefined if it has none. */
export function zipEntries(bytes: Uint8Array): ZipEntry[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  if (end === undefined) return undefined;
  const entries: ZipEntry[] = [];
  let at = view.getUint32(end + 16, true);
  while (at + entryBytes <= bytes.length && view.getUint32(at, true) === entrySignature) {
    const nameBytes = view.getUint16(at + 28, true);
    const name = Buffer.from(bytes.subarray(at + entryBytes, at + entryBytes + nameBytes)).toString();
    const packedBytes = view.getUint32(at + 20, true);
    const start = dataStart(view, view.getUint32(at + 42, true));
    entries.push({
      name,
      size: view.getUint32(at + 24, true),
      method: view.getUint16(at + 10, true),
      packed: bytes.subarray(start, start + packedBytes),
    });
    at += entryBytes + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
}

/** Behind the local header, whose fields may be longer than the directory's. */
function dataStart(view: DataView, at: number): number {
  if (at + localBytes > view.byteLength) return view.byteLength;
  return at + localBytes + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
}

function findEnd(view: DataView): number | undefined {
  const last = view.byteLength - endBytes;
  for (let at = last; at >= Math.max(0, last - commentBytesMax); at -= 1) {
    if (view.getUint32(at, true) === endSignature) return at;
  }
  return undefined;
}
