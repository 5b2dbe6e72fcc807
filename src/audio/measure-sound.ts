/**
 * Measures the duration of the audio in an uploaded file. The duration is billed, and whoever sent the file wrote its
 * header. So formats that upstreams accept are counted packet by packet, in memory that doesn't grow with the header's
 * claims. For chunked formats that can't be counted (AIFF, and WAV with a codec) a library reads the header. The
 * library reads many more formats, but some crafted files would block it, and the whole process, for seconds: it never
 * gets those.
 */
import { FlacCounter } from "./flac-counter.ts";
import { FrameCounter } from "./frame-counter.ts";
import { Mp4Counter } from "./mp4-counter.ts";
import { OggCounter } from "./ogg-counter.ts";
import { plausibleDuration, type SoundCounter } from "./sound-counter.ts";
import { WavCounter } from "./wav-counter.ts";
import { WebmCounter } from "./webm-counter.ts";

/** How long reading a file may take. A disk needs a fraction of a second. */
const READ_MS_MAX = 30_000;

/** Bytes of a header that the library gets: parsing tags takes many times as much memory, and some time. */
const HEAD_BYTES_MAX = 16 * 1024;

/** A week. A file that claims a longer duration is not believed. */
const MILLISECONDS_MAX = 7 * 24 * 3_600_000;

/** Bytes that identify a format. */
const MAGIC_BYTES = 12;

/**
 * The milliseconds of audio in a file, or undefined if they can't be determined. Depends only on the bytes, never on a
 * name or type. Reads the stream to its end unless nothing can be found; never rejects.
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

/** The methods of a stream's reader that are used here. */
interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

async function count(reader: ByteReader, size: number): Promise<number | undefined> {
  const head: Uint8Array[] = [];
  let headBytes = 0;
  let read = 0;
  let started: ReturnType<typeof countersFor> | undefined;
  for (let { value } = await reader.read(); value !== undefined; { value } = await reader.read()) {
    read += value.byteLength;
    if (headBytes < HEAD_BYTES_MAX) {
      head.push(value);
      headBytes += value.byteLength;
    }
    for (const counter of started?.counters ?? []) counter.push(value);
    if (started === undefined && headBytes >= MAGIC_BYTES) {
      const soFar = Buffer.concat(head);
      started = countersFor(soFar);
      for (const counter of started.counters) counter.push(soFar);
    }
  }
  // A file that was not read to its end can't be measured.
  if (read < size || started === undefined) return undefined;
  const counted = started.counters.map(({ milliseconds }) => milliseconds).find((result) => result !== undefined);
  return counted ?? (started.mayReadHead ? readHead(Buffer.concat(head).subarray(0, HEAD_BYTES_MAX), size) : undefined);
}

/** For formats whose packets are counted and whose header is never believed. */
function only(counter: SoundCounter): { counters: readonly SoundCounter[]; mayReadHead: boolean } {
  return { counters: [counter], mayReadHead: false };
}

/**
 * The counters for a file that begins with `head`, and whether the library may read its header if none can count it.
 */
function countersFor(head: Buffer): { counters: readonly SoundCounter[]; mayReadHead: boolean } {
  const magic = head.toString("latin1", 0, 4);
  if (magic === "fLaC") return only(new FlacCounter());
  if (magic === "OggS") return only(new OggCounter());
  if (magic === "\x1a\x45\xdf\xa3") return only(new WebmCounter());
  if (/^(?:ftyp|moov|moof|mdat|styp|wide|free|skip)$/.test(head.toString("latin1", 4, 8)))
    return only(new Mp4Counter());
  if (magic === "RIFF" || magic === "RF64") return { counters: [new WavCounter()], mayReadHead: true };
  // An ID3 tag may precede either format.
  const counters = magic.startsWith("ID3") ? [new FrameCounter(), new FlacCounter()] : [new FrameCounter()];
  return { counters, mayReadHead: magic === "FORM" };
}

async function readHead(head: Buffer, size: number): Promise<number | undefined> {
  // Loaded lazily, since it is rarely needed and slow to load.
  const { parseBuffer } = await import("music-metadata");
  const { format } = await parseBuffer(head, { size }, { skipCovers: true });
  return plausibleDuration((format.duration ?? 0) * 1_000, size);
}
