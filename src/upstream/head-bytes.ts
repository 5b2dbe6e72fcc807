import { limits } from "../core/index.ts";
import { BadReply } from "./bad-reply.ts";

const headEnd = Buffer.from("\r\n\r\n");
const beginning = "HTTP/1.";

/** Finds the end of a head in bytes that arrive in pieces; usually in the first one, without a copy. */
export class HeadBytes {
  /** The offset after the head in the last read bytes. */
  nextAt = 0;
  #retained: Buffer | null = null;
  #retainedLength = 0;

  get isEmpty(): boolean {
    return this.#retained === null;
  }

  clear(): void {
    this.#retained = null;
    this.#retainedLength = 0;
  }

  /** The head as Latin-1 without its empty line, once it is complete; undefined before. Throws `BadReply`. */
  read(bytes: Buffer, from: number): string | undefined {
    if (this.#retained !== null) return this.#continue(this.#retained, bytes, from);
    const end = bytes.indexOf(headEnd, from);
    if (end - from > limits.replyHeadBytesMax) throw tooLong();
    if (end === -1) {
      this.#retain(Buffer.allocUnsafe(0), bytes, from);
      return undefined;
    }
    this.nextAt = end + headEnd.length;
    return bytes.toString("latin1", from, end + 2);
  }

  #continue(kept: Buffer, bytes: Buffer, from: number): string | undefined {
    const before = this.#retainedLength;
    const joined = this.#retain(kept, bytes, from);
    const end = joined.subarray(0, this.#retainedLength).indexOf(headEnd, Math.max(0, before - headEnd.length + 1));
    if (end === -1) return undefined;
    this.nextAt = from + end + headEnd.length - before;
    this.clear();
    return joined.toString("latin1", 0, end + 2);
  }

  /** Grows by doubling, so a head that arrives byte by byte is not copied for each. */
  #retain(kept: Buffer, bytes: Buffer, from: number): Buffer {
    // The end may be after the bound's last byte; anything after it does not belong to the head.
    const taken = Math.min(bytes.length - from, limits.replyHeadBytesMax + headEnd.length - this.#retainedLength);
    const length = this.#retainedLength + taken;
    let room = kept;
    if (length > kept.length) {
      room = Buffer.allocUnsafe(Math.max(length, 2 * kept.length, 1024));
      room.set(kept.subarray(0, this.#retainedLength));
    }
    room.set(bytes.subarray(from, from + taken), this.#retainedLength);
    this.#retained = room;
    this.#retainedLength = length;
    checkBeginning(room, length);
    const isTooLong = length >= limits.replyHeadBytesMax + headEnd.length;
    if (isTooLong && room.subarray(0, length).indexOf(headEnd) === -1) throw tooLong();
    return room;
  }
}

/** A peer with another protocol is rejected at once. */
function checkBeginning(bytes: Buffer, length: number): void {
  const seen = Math.min(length, beginning.length);
  if (bytes.toString("latin1", 0, seen) !== beginning.slice(0, seen)) throw new BadReply("no status line");
}

function tooLong(): BadReply {
  return new BadReply(`a head of more than ${limits.replyHeadBytesMax} bytes`);
}
