import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../core/index.ts";

/**
 * The bytes of one body: in memory, and beyond a bound in a temporary file. The file is unlinked as soon as it is open,
 * so nothing remains if the process dies; closing it frees its space.
 */
export class Spool {
  readonly #folder: string;
  readonly #memoryBytesMax: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #file: FileHandle | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(folder: string, memoryBytesMax: number) {
    this.#folder = folder;
    this.#memoryBytesMax = memoryBytesMax;
  }

  get size(): number {
    return this.#size;
  }

  /** All bytes, while they are in memory. */
  get bytes(): Buffer | undefined {
    this.#checkOpen();
    if (this.#file !== undefined) return undefined;
    const [first] = this.#chunks;
    const whole =
      this.#chunks.length === 1 && first !== undefined
        ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
        : Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [whole];
    return whole;
  }

  /** Must not be called concurrently. Throws `storage_unavailable` if the disk does not accept the bytes. */
  write(chunk: Uint8Array): Promise<void> {
    this.#checkOpen();
    this.#writing = this.#write(chunk);
    return this.#writing;
  }

  async #write(chunk: Uint8Array): Promise<void> {
    if (this.#file === undefined) {
      this.#chunks.push(chunk);
      this.#size += chunk.byteLength;
      if (this.#size > this.#memoryBytesMax) await this.#moveToFile();
      return;
    }
    await onDisk(writeAll(this.#file, chunk, this.#size));
    this.#size += chunk.byteLength;
  }

  async #moveToFile(): Promise<void> {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#file = await onDisk(openNameless(this.#folder));
    let position = 0;
    for (const chunk of chunks) {
      await onDisk(writeAll(this.#file, chunk, position));
      position += chunk.byteLength;
    }
  }

  /** The bytes from `start` to before `end`; from memory, without a copy. */
  async read(start: number, end: number): Promise<Buffer> {
    const { bytes } = this;
    if (bytes !== undefined) return bytes.subarray(start, end);
    const buffer = Buffer.allocUnsafeSlow(end - start);
    for (let done = 0; done < buffer.length;) {
      this.#checkOpen();
      const read = await this.#file?.read(buffer, done, buffer.length - done, start + done);
      if (read === undefined || read.bytesRead === 0) throw new Error("a spooled body is shorter than it was");
      done += read.bytesRead;
    }
    return buffer;
  }

  /** Current readers get an error. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // A file that is being opened must be closed too.
    await this.#writing.catch(() => undefined);
    this.#chunks = [];
    await this.#file?.close();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new Error("the form is closed");
  }
}

async function openNameless(folder: string): Promise<FileHandle> {
  // Not from the injected source: two processes with the same seed must not use the same file.
  const path = join(folder, `tollgate-${randomUUID()}`);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await unlink(path);
    return file;
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.byteLength;) {
    const { bytesWritten } = await file.write(chunk, done, chunk.byteLength - done, position + done);
    done += bytesWritten;
  }
}

async function onDisk<T>(doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (cause) {
    throw new GatewayError("storage_unavailable", "The gateway can't store an upload at the moment.", { cause });
  }
}
