import { stringOr, type JsonObject } from "../json.ts";
import { jsonAnswer, type Answer } from "../types.ts";
import { textAnswer } from "./transcription.ts";
import { srtOf, type TimedSegment, type Transcript, vttOf } from "./transcript.ts";

/** Writes a transcript in the formats that began with Whisper. */
export interface Telling {
  readonly transcript: Transcript;
  readonly task: "transcribe" | "translate";
  readonly language: string;
  /** Segments and words are included on request. */
  readonly granularities: readonly unknown[];
  /** Members beside those of the transcript, usage among them. */
  readonly more: JsonObject;
}

const languages: { readonly [code: string]: string } = {
  de: "german",
  en: "english",
  es: "spanish",
  fr: "french",
  it: "italian",
};

/** The name that goes with a language's code. */
export function languageName(code: unknown): string {
  const known = stringOr(code, "en");
  return languages[known] ?? known;
}

/** Answers in `text`, `srt`, `vtt`, `verbose_json` or, for anything else, `json`. */
export function tell(format: unknown, telling: Telling): Answer {
  const { transcript, more } = telling;
  if (format === "text") return textAnswer(`${transcript.text}\n`);
  if (format === "srt") return textAnswer(srtOf(transcript));
  if (format === "vtt") return textAnswer(vttOf(transcript));
  return jsonAnswer(format === "verbose_json" ? verbose(telling) : { text: transcript.text, ...more });
}

function verbose({ transcript, task, language, granularities, more }: Telling): JsonObject {
  const { text, seconds, words, segments } = transcript;
  const timed = words.map((word) => ({ word: word.text, start: word.start, end: word.end }));
  const wantsSegments = granularities.length === 0 || granularities.includes("segment");
  return {
    task,
    language,
    duration: seconds,
    text,
    ...(granularities.includes("word") ? { words: timed } : {}),
    ...(wantsSegments ? { segments: segments.map(segmentOf) } : {}),
    ...more,
  };
}

function segmentOf({ text, start, end, words }: TimedSegment, id: number): JsonObject {
  return {
    id,
    seek: Math.round(start * 100),
    start,
    end,
    text: ` ${text}`,
    tokens: words.map((word) => 1_000 + word.text.length),
    temperature: 0,
    avg_logprob: -0.25,
    compression_ratio: 1.2,
    no_speech_prob: 0.01,
  };
}
