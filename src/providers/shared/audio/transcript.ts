import type { CallFile, JsonObject } from "../../../core/index.ts";
import type { CallInput, BinaryAnswer } from "../../provider.ts";
import { textOf } from "../json.ts";
import { refusal } from "../refusal.ts";
import { type Cue, cuesOf, srtOf, type TimedWord, turnsOf, vttOf } from "./subtitles.ts";

/** A transcript read from an upstream with its own format. */
export interface Transcript {
  text: string;
  /** A language code. */
  language: string | undefined;
  seconds: number | undefined;
  words: readonly TimedWord[];
  /** Whether `words` are whole segments already. */
  segmented: boolean;
}

/** The format that the client requests. */
export interface TranscriptFormat {
  format: string;
  words: boolean;
  segments: boolean;
  /** Whether the transcript is sent as events, which are generated from a JSON object. */
  streamed: boolean;
}

const formats = ["json", "text", "srt", "vtt", "verbose_json", "diarized_json"];

/** The values of a form's field that may be repeated. */
export function valuesOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((item) => typeof item === "string");
}

/** Whether a form's field is true. */
export function isSet(value: unknown): boolean {
  return value === true || value === "true" || value === "1";
}

/** The audio file of the call. Throws 422 if it is missing. */
export function audioFileOf({ files }: CallInput): CallFile {
  const file = files.find(({ field }) => field === "file");
  if (file === undefined) throw refusal("file", "must be present, as a file.");
  return file;
}

/** Reads the requested format. Throws 422 for options that none of these upstreams supports. */
export function readTranscriptFormat(body: JsonObject): TranscriptFormat {
  const format = textOf(body["response_format"]) ?? "json";
  if (!formats.includes(format)) throw refusal("response_format", `must be one of ${formats.join(", ")}.`);
  if (valuesOf(body["include"]).length > 0) throw refusal("include", "this upstream returns no log probabilities.");
  if (valuesOf(body["known_speaker_names"]).length > 0) {
    throw refusal("known_speaker_names", "this upstream distinguishes speakers, but cannot identify them.");
  }
  const granularities = valuesOf(body["timestamp_granularities"]);
  return {
    format,
    words: granularities.includes("word"),
    segments: granularities.length === 0 || granularities.includes("segment"),
    streamed: isSet(body["stream"]),
  };
}

/** Converts a transcript to one of OpenAI's formats. */
export function formatTranscript(transcript: Transcript, requested: TranscriptFormat): JsonObject | BinaryAnswer {
  const { format, streamed } = requested;
  if (format === "diarized_json") return diarized(transcript);
  if (streamed || format === "json") return { text: transcript.text, ...usageOf(transcript) };
  if (format === "verbose_json") return verbose(transcript, requested);
  if (format === "text") return plain(`${transcript.text}\n`);
  return plain(format === "srt" ? srtOf(cuesFor(transcript)) : vttOf(cuesFor(transcript)));
}

function plain(text: string): BinaryAnswer {
  return { bytes: Buffer.from(text), contentType: "text/plain; charset=utf-8" };
}

function usageOf({ seconds }: Transcript): JsonObject {
  return seconds === undefined ? {} : { usage: { type: "duration", seconds } };
}

/** The cues of a transcript; a text without times is shown for the whole duration. */
function cuesFor(transcript: Transcript): readonly Cue[] {
  const { text, words, seconds = 0 } = transcript;
  if (words.length > 0) return cuesOf(text, words);
  return text.trim() === "" ? [] : cuesOf(text, [{ text, start: 0, end: seconds }]);
}

function verbose(transcript: Transcript, { words, segments }: TranscriptFormat): JsonObject {
  const { text, language, seconds } = transcript;
  const timed = transcript.words.map((word) => ({ word: word.text, start: word.start, end: word.end }));
  return {
    task: "transcribe",
    language: languageName(language),
    duration: seconds ?? transcript.words.at(-1)?.end ?? 0,
    text,
    ...(words ? { words: timed } : {}),
    ...(segments ? { segments: segmentsOf(transcript).map(segment) } : {}),
    ...usageOf(transcript),
  };
}

/** Segments of the upstream are not changed. */
function segmentsOf({ text, words, segmented }: Transcript): readonly Cue[] {
  if (!segmented) return cuesOf(text, words);
  return words.map((word) => ({ ...word, start: word.start * 1_000, end: word.end * 1_000, speaker: word.speaker }));
}

/** Clients expect Whisper's statistics, which other upstreams lack, so they get neutral values. */
function segment({ start, end, text }: Cue, id: number): JsonObject {
  return {
    id,
    seek: Math.round(start / 10),
    start: start / 1_000,
    end: end / 1_000,
    text,
    tokens: [],
    temperature: 0,
    avg_logprob: 0,
    compression_ratio: 1,
    no_speech_prob: 0,
  };
}

function diarized(transcript: Transcript): JsonObject {
  const { text, words, seconds } = transcript;
  const labels = new Map<string | undefined, string>();
  const segments = turnsOf(text, words).map((turn, index) => {
    const label = labels.get(turn.speaker) ?? labelOf(labels.size);
    labels.set(turn.speaker, label);
    return {
      type: "transcript.text.segment",
      id: `seg_${String(index + 1).padStart(3, "0")}`,
      start: turn.start / 1_000,
      end: turn.end / 1_000,
      text: turn.text,
      speaker: label,
    };
  });
  return { task: "transcribe", duration: seconds ?? words.at(-1)?.end ?? 0, text, segments, ...usageOf(transcript) };
}

/** Speakers are A, B and so on, in the order of their first words. */
function labelOf(index: number): string {
  return index < 26 ? String.fromCodePoint(0x41 + index) : `S${index + 1}`;
}

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** The English name of a language in lowercase, as in Whisper's answers. */
function languageName(code: string | undefined): string {
  try {
    return code === undefined ? "unknown" : (names.of(code) ?? code).toLowerCase();
  } catch {
    return code ?? "unknown";
  }
}
