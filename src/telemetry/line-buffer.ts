import { writeSync } from "node:fs";

/** Lines accumulate up to this many bytes before they are written: one system call for dozens of requests. */
const GATHERED_BYTES = 16_384;

/** Bytes that may wait for a slow reader before lines are dropped. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

/** Capacity for the accumulated bytes and one more usual line. */
const ROOM_BYTES = 2 * GATHERED_BYTES;

/** The maximum number of bytes of a UTF-16 unit in UTF-8. */
const CHARACTER_BYTES_MAX = 3;

const LINE_FEED = 0x0a;
const COMMA = 0x2c;
const EMPTY_OBJECT = "{}";

/**
 * Buffers lines for a file as UTF-8. pino's own buffered destination calls fsync at each timed flush, which a log does
 * not need.
 */
export class LineBuffer {
  readonly #fd: number;
  #bytes = Buffer.allocUnsafeSlow(ROOM_BYTES);
  #length = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** A line including its line end. */
  write(line: string): void {
    this.#put(line);
    this.#flushIfFull();
  }

  /** A line around an object's JSON, whose braces are replaced by the given beginning and end. */
  writeObject(before: string, object: string, behind: string): void {
    this.#put(before);
    if (object !== EMPTY_OBJECT) {
      const brace = this.#length;
      this.#put(object);
      this.#bytes[brace] = COMMA;
      this.#length -= 1;
    }
    this.#put(behind);
    this.#flushIfFull();
  }

  flush(): void {
    let written = 0;
    try {
      while (written < this.#length) written += writeSync(this.#fd, this.#bytes, written, this.#length - written);
    } catch (reason) {
      // A reader that is briefly slow gets the lines later; one that hangs or is gone must not stop the gateway.
      if (!isBusy(reason)) written = this.#length;
      else if (this.#length - written >= WAITING_BYTES_MAX) this.#length = this.#endOfLine(written);
    }
    this.#bytes.copyWithin(0, written, this.#length);
    this.#length -= written;
    if (this.#length === 0 && this.#bytes.length > ROOM_BYTES) this.#bytes = Buffer.allocUnsafeSlow(ROOM_BYTES);
  }

  /** A partly written line is never dropped: the next one would be mistaken for its remainder. */
  #endOfLine(from: number): number {
    return this.#bytes.indexOf(LINE_FEED, from) + 1;
  }

  #flushIfFull(): void {
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
