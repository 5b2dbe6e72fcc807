import { crc32 } from "node:zlib";
import type { ExpectedFile } from "./protocol.ts";

/** A file begins behind the blank line that ends its part's headers. */
const fileStart = "\r\n\r\nRIFF";
const magicBytes = 4;
/** The fields before the file; a form that has no file up to there has none. */
const headBytesMax = 64 * 1024;

/**
 * Finds the file in one form, for any boundary and order, and adds its bytes up. They are not kept: otherwise, with
 * fifty simultaneous uploads, the upstream would compete for memory with the measured proxy.
 */
export class UploadCheck {
  readonly #expected: ExpectedFile;
  #head: Buffer | null = Buffer.alloc(0);
  #missing = 0;
  #checksum = 0;

  constructor(expected: ExpectedFile) {
    this.#expected = expected;
  }

  add(piece: Buffer): void {
    if (this.#head === null) this.#take(piece);
    else this.#search(Buffer.concat([this.#head, piece]));
  }

  /** Called at the end of the form; null when all of the file has come as it was sent. */
  problem(): string | null {
    if (this.#head !== null) return "no file in the form";
    const { bytes, checksum } = this.#expected;
    if (this.#missing > 0) return `${bytes - this.#missing} bytes of the file instead of ${bytes}`;
    return this.#checksum === checksum ? null : "a file with other bytes";
  }

  #search(head: Buffer): void {
    const found = head.indexOf(fileStart, 0, "latin1");
    if (found < 0) {
      this.#head = head.subarray(0, headBytesMax);
      return;
    }
    this.#head = null;
    this.#missing = this.#expected.bytes;
    this.#take(head.subarray(found + fileStart.length - magicBytes));
  }

  #take(piece: Buffer): void {
    const taken = piece.subarray(0, this.#missing);
    this.#missing -= taken.length;
    this.#checksum = crc32(taken, this.#checksum);
  }
}
