import { exactWords } from "../say.ts";
import { readScenario } from "../scenario.ts";

/** A word and its time, in seconds. */
interface TimedWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Words that are shown together. */
export interface TimedSegment extends TimedWord {
  readonly words: readonly TimedWord[];
}

/** The transcript of audio. */
export interface Transcript {
  readonly seconds: number;
  readonly text: string;
  readonly words: readonly TimedWord[];
  readonly segments: readonly TimedSegment[];
}

const wordsPerSecond = 2.5;
const wordsPerSegment = 10;

/** Distributes words evenly over the audio; `words:N` in the prompt sets their number. */
export function hear(seconds: number, prompt: string): Transcript {
  const count = readScenario(prompt).words ?? Math.max(1, Math.round(seconds * wordsPerSecond));
  const text = count === 0 ? "" : exactWords(count, 0);
  const at = (index: number): number => Math.round((index * seconds * 1_000) / Math.max(1, count)) / 1_000;
  const told = text === "" ? [] : text.split(" ");
  const words = told.map((word, index) => ({ text: word, start: at(index), end: at(index + 1) }));
  const segments: TimedSegment[] = [];
  for (let first = 0; first < words.length; first += wordsPerSegment) {
    segments.push(joined(words.slice(first, first + wordsPerSegment)));
  }
  return { seconds, text, words, segments };
}

function joined(words: readonly TimedWord[]): TimedSegment {
  const text = words.map((word) => word.text).join(" ");
  return { text, start: words.at(0)?.start ?? 0, end: words.at(-1)?.end ?? 0, words };
}

/** Subtitles in SubRip's form. */
export function srtOf({ segments }: Transcript): string {
  const cues = segments.map(({ text, start, end }, index) => {
    return `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${text}\n`;
  });
  return `${cues.join("\n")}\n`;
}

/** Subtitles in WebVTT's form. */
export function vttOf({ segments }: Transcript): string {
  const cues = segments.map(({ text, start, end }) => `${clock(start, ".")} --> ${clock(end, ".")}\n${text}\n`);
  return `WEBVTT\n\n${cues.join("\n")}\n`;
}

function clock(seconds: number, mark: "," | "."): string {
  const [whole = "", rest = ""] = seconds.toFixed(3).split(".");
  const total = Number(whole);
  const parts = [Math.floor(total / 3_600), Math.floor(total / 60) % 60, total % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":") + mark + rest;
}
