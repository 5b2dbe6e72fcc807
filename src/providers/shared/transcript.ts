import type { CallFile, JsonObject } from "../../core/index.ts";
import type { CallInput, BinaryAnswer } from "../provider.ts";
import { textOf } from "./json.ts";
import { refusal } from "./refusal.ts";
import { type Cue, cuesOf, srtOf, type TimedWord, turnsOf, vttOf } from "./subtitles.ts";

/** A transcript as an upstream gave it that has a shape of its own. */
export interface Transcript {
  text: string;
  /** As a code. */
  language: string | undefined;
  seconds: number | undefined;
  words: readonly TimedWord[];
  /** Words that are sentences already. */
  segmented: boolean;
}

/** What the client wants to get. */
export interface TranscriptFormat {
  format: string;
  words: boolean;
  segments: boolean;
  /** As events, which are made of an object. */
  streamed: boolean;
}

const formats = ["json", "text", "srt", "vtt", "verbose_json", "diarized_json"];

/** The values of a form's field that may come several times. */
export function valuesOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === "string");
}

/** Whether a form's field says yes. */
export function isSet(value: unknown): boolean {
  return value === true || value === "true" || value === "1";
}

/** The file that is to be heard. Throws 422 where there is none. */
export function audioFileOf({ files }: CallInput): CallFile {
  const file = files.find(({ field }) => field === "file");
  if (file === undefined) throw refusal("file", "must be there, as a file.");
  return file;
}

/** Reads what a form asks for. Throws 422 for what none of these upstreams can tell. */
export function readTranscriptFormat(body: JsonObject): TranscriptFormat {
  const format = textOf(body["response_format"]) ?? "json";
  if (!formats.includes(format)) throw refusal("response_format", `must be one of ${formats.join(", ")}.`);
  if (valuesOf(body["include"]).length > 0) throw refusal("include", "this upstream tells no log probabilities.");
  if (valuesOf(body["known_speaker_names"]).length > 0) {
    throw refusal("known_speaker_names", "this upstream tells speakers apart, but knows none.");
  }
  const granularities = valuesOf(body["timestamp_granularities"]);
  return {
    format,
    words: granularities.includes("word"),
    segments: granularities.length === 0 || granularities.includes("segment"),
    streamed: isSet(body["stream"]),
  };
}

/** A transcript in one of OpenAI's formats. */
export function formatTranscript(heard: Transcript, telling: TranscriptFormat): JsonObject | BinaryAnswer {
  const { format, streamed } = telling;
  if (format === "diarized_json") return diarized(heard);
  if (streamed || format === "json") return { text: heard.text, ...usageOf(heard) };
  if (format === "verbose_json") return verbose(heard, telling);
  if (format === "text") return plain(`${heard.text}\n`);
  return plain(format === "srt" ? srtOf(shownCues(heard)) : vttOf(shownCues(heard)));
}

function plain(text: string): BinaryAnswer {
  return { bytes: Buffer.from(text), contentType: "text/plain; charset=utf-8" };
}

function usageOf({ seconds }: Transcript): JsonObject {
  return seconds === undefined ? {} : { usage: { type: "duration", seconds } };
}

/** A text without times is shown all the time. */
function shownCues(heard: Transcript): readonly Cue[] {
  const { text, words, seconds = 0 } = heard;
  if (words.length > 0) return cuesOf(text, words);
  return text.trim() === "" ? [] : cuesOf(text, [{ text, start: 0, end: seconds }]);
}

function verbose(heard: Transcript, { words, segments }: TranscriptFormat): JsonObject {
  const { text, language, seconds } = heard;
  const timed = heard.words.map((word) => ({ word: word.text, start: word.start, end: word.end }));
  return {
    task: "transcribe",
    language: languageName(language),
    duration: seconds ?? heard.words.at(-1)?.end ?? 0,
    text,
    ...(words ? { words: timed } : {}),
    ...(segments ? { segments: segmentsOf(heard).map(segment) } : {}),
    ...usageOf(heard),
  };
}

/** An upstream's own segments stay as they are. */
function segmentsOf({ text, words, segmented }: Transcript): readonly Cue[] {
  if (!segmented) return cuesOf(text, words);
  return words.map((one) => ({ ...one, start: one.start * 1_000, end: one.end * 1_000, speaker: one.speaker }));
}

/** With the figures of Whisper's that clients expect to be there, which nobody else has, as if all were well. */
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

function diarized(heard: Transcript): JsonObject {
  const { text, words, seconds } = heard;
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
  return { task: "transcribe", duration: seconds ?? words.at(-1)?.end ?? 0, text, segments, ...usageOf(heard) };
}

/** Speakers are A, B and so on, in the order in which they are heard. */
function labelOf(index: number): string {
  return index < 26 ? String.fromCodePoint(0x41 + index) : `S${index + 1}`;
}

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** In English and in small letters, as Whisper names it. */
function languageName(code: string | undefined): string {
  try {
    return code === undefined ? "unknown" : (names.of(code) ?? code).toLowerCase();
  } catch {
    return code ?? "unknown";
  }
}
