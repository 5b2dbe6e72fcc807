import { writeSync } from "node:fs";

/** Lines gather up to this many bytes before they are written: one system call for dozens of requests. */
const GATHERED_BYTES = 16_384;

/** Bytes that may wait for a slow reader before lines are lost. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

/** Room for what is gathered, and for a usual line beyond. */
const ROOM_BYTES = 2 * GATHERED_BYTES;

/** A character takes no more in UTF-8. */
const CHARACTER_BYTES_MAX = 3;

const LINE_FEED = 0x0a;
const COMMA = 0x2c;
const EMPTY_OBJECT = "{}";

/**
 * Lines on their way to a file, in UTF-8 as it will hold them. pino's own buffered destination calls fsync at each timed
 * flush; a log needs none.
 */
export class LineBuffer {
  readonly #fd: number;
  #bytes = Buffer.allocUnsafeSlow(ROOM_BYTES);
  #length = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** A line with its line end. */
  write(line: string): void {
    this.#put(line);
    this.#flushWhereFull();
  }

  /** A line around an object's JSON, whose braces give way to what stands before and behind it. */
  writeObject(before: string, object: string, behind: string): void {
    this.#put(before);
    if (object !== EMPTY_OBJECT) {
      const brace = this.#length;
      this.#put(object);
      this.#bytes[brace] = COMMA;
      this.#length -= 1;
    }
    this.#put(behind);
    this.#flushWhereFull();
  }

  flush(): void {
    let written = 0;
    try {
      while (written < this.#length) written += writeSync(this.#fd, this.#bytes, written, this.#length - written);
    } catch (reason) {
      // A reader that is slow for a moment gets the lines later; one that is gone or hangs must not stop the gateway.
      if (!isBusy(reason)) written = this.#length;
      else if (this.#length - written >= WAITING_BYTES_MAX) this.#length = this.#endOfLine(written);
    }
    this.#bytes.copyWithin(0, written, this.#length);
    this.#length -= written;
    if (this.#length === 0 && this.#bytes.length > ROOM_BYTES) this.#bytes = Buffer.allocUnsafeSlow(ROOM_BYTES);
  }

  /** A line that was written in part is never lost: the next one would be taken for its rest. */
  #endOfLine(from: number): number {
    return this.#bytes.indexOf(LINE_FEED, from) + 1;
  }

  #flushWhereFull(): void {
    if (this.#length > GATHERED_BYTES) this.flush();
  }

  #put(text: string): void {
    const needed = this.#length + CHARACTER_BYTES_MAX * text.length;
    if (needed > this.#bytes.length) this.#grow(2 * needed);
    this.#length += this.#bytes.write(text, this.#length);
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafeSlow(length);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

function isBusy(reason: unknown): boolean {
  return reason instanceof Error && "code" in reason && reason.code === "EAGAIN";
}
