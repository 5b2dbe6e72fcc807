/**
 * Measures the duration of the audio in an uploaded file. The duration is billed, and whoever sent the file wrote its
 * header. So the packets or samples are counted, in memory that doesn't grow with the header's claims, and their
 * duration is that of their codec: never less than a common decoder plays. A file that decoders may understand
 * differently is not measured.
 */
import { AiffCounter } from "./aiff-counter.ts";
import { FlacCounter } from "./flac-counter.ts";
import { FrameCounter } from "./frame-counter.ts";
import { Mp4Counter } from "./mp4-counter.ts";
import { OggCounter } from "./ogg-counter.ts";
import type { SoundCounter } from "./sound-counter.ts";
import { WavCounter } from "./wav-counter.ts";
import { WebmCounter } from "./webm-counter.ts";

/** How long reading a file may take. A disk needs a fraction of a second. */
const READ_MS_MAX = 30_000;

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
  let head: Buffer = Buffer.alloc(0);
  let read = 0;
  let started: readonly SoundCounter[] | undefined;
  for (let { value } = await reader.read(); value !== undefined; { value } = await reader.read()) {
    read += value.byteLength;
    if (started === undefined) {
      head = Buffer.concat([head, value]);
      if (head.length < MAGIC_BYTES) continue;
      started = countersFor(head);
      for (const counter of started) counter.push(head);
    } else {
      for (const counter of started) counter.push(value);
    }
  }
  // A file that was not read to its end can't be measured.
  if (read < size || started === undefined) return undefined;
  return started.map(({ milliseconds }) => milliseconds).find((result) => result !== undefined);
}

/** The counters for a file that begins with `head`; at most one of them can count it. */
function countersFor(head: Buffer): readonly SoundCounter[] {
  const magic = head.toString("latin1", 0, 4);
  if (magic === "fLaC") return [new FlacCounter()];
  if (magic === "OggS") return [new OggCounter()];
  if (magic === "\x1a\x45\xdf\xa3") return [new WebmCounter()];
  if (magic === "RIFF" || magic === "RF64" || magic === "BW64") return [new WavCounter()];
  if (magic === "FORM") return [new AiffCounter()];
  if (/^(?:ftyp|moov|moof|mdat|styp|wide|free|skip)$/.test(head.toString("latin1", 4, 8))) return [new Mp4Counter()];
  // An ID3 tag may precede either format.
  return magic.startsWith("ID3") ? [new FrameCounter(), new FlacCounter()] : [new FrameCounter()];
}
