/**
 * How long the sound in an uploaded file lasts. It is billed by that, and whoever sent the file wrote its head: so the
 * formats that upstreams take are counted through, packet by packet, in memory that doesn't grow with what is claimed.
 * Of the chunked formats that can't be counted (AIFF, and WAV with a codec) the library reads the head. It reads many
 * more, and some of them can be made to keep it busy for seconds, in which nothing else is done: those are not shown to it.
 */
import { FlacCounter } from "./flac-counter.ts";
import { FrameCounter } from "./frame-counter.ts";
import { Mp4Counter } from "./mp4-counter.ts";
import { OggCounter } from "./ogg-counter.ts";
import { believed, type SoundCounter } from "./sound-counter.ts";
import { WavCounter } from "./wav-counter.ts";
import { WebmCounter } from "./webm-counter.ts";

/** How long a file may take to be read. A disk takes a fraction of a second. */
const READ_MS_MAX = 30_000;

/** Bytes of a head that the library gets to see: what it makes of tags takes many times as much memory, and a while. */
const HEAD_BYTES_MAX = 16 * 1024;

/** No file lasts longer: a week. What claims to is not believed. */
const MILLISECONDS_MAX = 7 * 24 * 3_600_000;

/** As many bytes as tell a format. */
const MAGIC_BYTES = 12;

/**
 * Milliseconds of sound in a file, or undefined where none can be read. Goes by the bytes alone, never by a name or type.
 * Reads the stream to its end unless there is nothing to be found; never rejects.
 */
export async function measureSound(
  stream: ReadableStream<Uint8Array>,
  { size }: { size: number },
): Promise<number | undefined> {
  const reader: ByteReader = stream.getReader();
  const giveUp = setTimeout(() => void reader.cancel().catch(() => undefined), READ_MS_MAX);
  try {
    const measured = await count(reader, size);
    return measured === undefined || measured > MILLISECONDS_MAX ? undefined : measured;
  } catch {
    return undefined;
  } finally {
    clearTimeout(giveUp);
    void reader.cancel().catch(() => undefined);
  }
}

/** A stream's reader, as far as it is used. */
interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

async function count(reader: ByteReader, size: number): Promise<number | undefined> {
  const head: Uint8Array[] = [];
  let headBytes = 0;
  let read = 0;
  let begun: ReturnType<typeof countersFor> | undefined;
  for (let { value } = await reader.read(); value !== undefined; { value } = await reader.read()) {
    read += value.byteLength;
    if (headBytes < HEAD_BYTES_MAX) {
      head.push(value);
      headBytes += value.byteLength;
    }
    for (const counter of begun?.counters ?? []) counter.push(value);
    if (begun === undefined && headBytes >= MAGIC_BYTES) {
      const soFar = Buffer.concat(head);
      begun = countersFor(soFar);
      for (const counter of begun.counters) counter.push(soFar);
    }
  }
  // A file that was not read to its end has not been measured.
  if (read < size || begun === undefined) return undefined;
  const counted = begun.counters.map(({ milliseconds }) => milliseconds).find((one) => one !== undefined);
  return counted ?? (begun.mayReadHead ? readHead(Buffer.concat(head).subarray(0, HEAD_BYTES_MAX), size) : undefined);
}

/** For files of which only their packets are believed. */
function only(counter: SoundCounter): { counters: readonly SoundCounter[]; mayReadHead: boolean } {
  return { counters: [counter], mayReadHead: false };
}

/** What may count a file that begins so; for one that nothing here can count, the library may read its head. */
function countersFor(head: Buffer): { counters: readonly SoundCounter[]; mayReadHead: boolean } {
  const magic = head.toString("latin1", 0, 4);
  if (magic === "fLaC") return only(new FlacCounter());
  if (magic === "OggS") return only(new OggCounter());
  if (magic === "\x1a\x45\xdf\xa3") return only(new WebmCounter());
  if (/^(?:ftyp|moov|moof|mdat|styp|wide|free|skip)$/.test(head.toString("latin1", 4, 8)))
    return only(new Mp4Counter());
  if (magic === "RIFF" || magic === "RF64") return { counters: [new WavCounter()], mayReadHead: true };
  // A tag may stand before either.
  const counters = magic.startsWith("ID3") ? [new FrameCounter(), new FlacCounter()] : [new FrameCounter()];
  return { counters, mayReadHead: magic === "FORM" };
}

async function readHead(head: Buffer, size: number): Promise<number | undefined> {
  // Seldom needed, and slow to load.
  const { parseBuffer } = await import("music-metadata");
  const { format } = await parseBuffer(head, { size }, { skipCovers: true });
  return believed((format.duration ?? 0) * 1_000, size);
}
