import { inflateRawSync } from "node:zlib";
import { decodeText } from "../../charset/decode.ts";
import { PageError } from "../../page-error.ts";
import { type ZipEntry, zipEntries } from "../zip-entries.ts";

/** Bytes that a document may unpack to. Text packs to a tenth; images hardly. */
const unpackedBytesMax = 128 * 1024 * 1024;

/** The parts of a document that is a ZIP archive. */
export class Archive {
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  /** @throws PageError `malformed` for one without a directory, `too_large` for one that unpacks to too much. */
  constructor(bytes: Uint8Array) {
    const entries = zipEntries(bytes);
    if (entries === undefined) throw new PageError("malformed", "the document is broken");
    const size = entries.reduce((sum, entry) => sum + entry.size, 0);
    if (size > unpackedBytesMax) throw new PageError("too_large", "the document unpacks to too much");
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  /**
   * The text of a part, undefined if there is none.
   * @throws PageError `malformed` for a part that is broken, or unpacks to more than the directory claims.
   */
  text(name: string): string | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    return decodeText(unpack(entry), { label: undefined, xml: true, plain: false }).text;
  }

  /** @throws PageError `malformed` for an archive without the part. */
  requiredText(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw new PageError("malformed", `the document is broken: it has no ${name}`);
    return text;
  }
}

function unpack({ method, packed, size }: ZipEntry): Uint8Array {
  if (method === 0) return packed;
  try {
    if (method === 8) return inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
  } catch (error) {
    throw new PageError("malformed", "the document is broken", { cause: error });
  }
  throw new PageError("malformed", "the document is packed in an unknown way");
}
