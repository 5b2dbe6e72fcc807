/** Keeps the bytes of a stream as a file. */
import { setImmediate } from "node:timers/promises";
import { GatewayError } from "../../core/index.ts";
import type { BatchDependencies } from "../dependencies.ts";
import { newFileId } from "../batch-ids.ts";
import type { FilePurpose, KeptFile } from "../store.ts";

/** Bytes of a part: a larger one would hold up other writes of the storage. */
const PART_BYTES = 256 * 1024;

/** A file that is not whole after this time belongs to a process that has died. */
const WRITING_MS_MAX = 3_600_000;

export interface NewFile {
  owner: string;
  purpose: FilePurpose;
  filename: string;
  /** The number of its bytes. */
  size: number;
  keptUntil: number;
  isListed: boolean;
}

/** Resolves with the file once it is durable. Rejects with 403 if the user has too many bytes. */
export async function writeFile(
  { files, environment, bounds }: Pick<BatchDependencies, "files" | "environment" | "bounds">,
  { size, keptUntil, isListed, ...file }: NewFile,
  content: AsyncIterable<Uint8Array>,
): Promise<KeptFile> {
  const { clock, randomBytes } = environment;
  const createdAt = clock();
  const id = newFileId(clock, randomBytes);
  const begun = {
    ...file,
    id,
    bytes: size,
    parts: 0,
    isListed: false,
    createdAt,
    keptUntil: createdAt + WRITING_MS_MAX,
  };
  if (!(await files.begin(begun, { bytes: size, bytesMax: bounds.bytesPerUserMax }))) {
    const message = `Your files of batches would exceed ${bounds.bytesPerUserMax} bytes; delete some.`;
    throw new GatewayError("file_quota_exceeded", message);
  }
  try {
    let [bytes, parts] = [0, 0];
    for await (const part of partsOf(content)) {
      await files.append(id, parts, part);
      bytes += part.byteLength;
      parts += 1;
      await setImmediate();
    }
    const written = { ...begun, bytes, parts, isListed, keptUntil };
    if (!(await files.finish(written))) throw new Error("a file that is written is gone");
    return written;
  } catch (reason) {
    await files.remove(id).catch(() => undefined);
    throw reason;
  }
}

async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    for (let from = 0; from < piece.byteLength; from += PART_BYTES) {
      const slice = piece.subarray(from, from + PART_BYTES);
      waiting.push(slice);
      bytes += slice.byteLength;
      if (bytes < PART_BYTES) continue;
      yield Buffer.concat(waiting);
      [waiting, bytes] = [[], 0];
    }
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}
