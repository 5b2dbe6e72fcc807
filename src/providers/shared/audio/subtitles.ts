/** Generates subtitles from words with times. */

/** A word, or another unit that the upstream timed; times in seconds. */
export interface TimedWord {
  text: string;
  start: number;
  end: number;
  /** The speaker, if known. */
  speaker?: string;
}

/** A text that is shown as a unit; times in milliseconds. Cues don't overlap. */
export interface Cue {
  start: number;
  end: number;
  text: string;
  speaker: string | undefined;
}

/** Two lines can be read at a glance (a Chinese character is as wide as two letters). */
const LINE_WIDTH = 42;
const CUE_WIDTH_MAX = 2 * LINE_WIDTH;
const CUE_MS_MAX = 7_000;

/** A silence of this length ends a cue. */
const GAP_MS = 1_000;

/** A shorter sentence may be followed by the next one in the same cue. */
const SENTENCE_WIDTH_MIN = 24;
const sentenceEnd = /[.!?…。！？]["'”’)\]»]*\s*$/;

interface Piece extends Cue {
  width: number;
}

/** Splits words into cues of readable length, at the ends of sentences, at silences and at changes of the speaker. */
export function cuesOf(text: string, words: readonly TimedWord[]): Cue[] {
  return grouped(text, words, (cue, next) => {
    if (next.start - cue.end >= GAP_MS || next.end - cue.start > CUE_MS_MAX || next.speaker !== cue.speaker)
      return true;
    if (cue.width + next.width > CUE_WIDTH_MAX) return true;
    return sentenceEnd.test(cue.text) && cue.width >= SENTENCE_WIDTH_MIN;
  });
}

/** Splits words at every change of the speaker. */
export function turnsOf(text: string, words: readonly TimedWord[]): Cue[] {
  return grouped(text, words, (turn, next) => next.speaker !== turn.speaker);
}

function grouped(text: string, words: readonly TimedWord[], isBreak: (group: Piece, next: Piece) => boolean): Cue[] {
  const groups: Piece[] = [];
  for (const next of piecesOf(text, words)) {
    const group = groups.at(-1);
    if (group === undefined || isBreak(group, next)) {
      groups.push({ ...next });
    } else {
      group.text += next.text;
      group.width += next.width;
      group.end = next.end;
    }
  }
  return groups.map(({ start, end, text: joined, speaker }) => ({ start, end, text: tidy(joined), speaker }));
}

/** Converts words to pieces and corrects their times: none begins before the previous one has ended. */
function piecesOf(text: string, words: readonly TimedWord[]): Piece[] {
  const texts = spaced(text, words);
  let last = 0;
  return words.map((word, index) => {
    const start = Math.max(last, msOf(word.start));
    const end = Math.max(start + 1, msOf(word.end));
    last = end;
    const spacedText = texts[index] ?? "";
    return { start, end, text: spacedText, speaker: word.speaker, width: widthOf(spacedText) };
  });
}

function msOf(seconds: number): number {
  return Number.isFinite(seconds) ? Math.round(seconds * 1_000) : 0;
}

/** Each word with the text up to the next one: a blank, punctuation or, in some scripts, nothing. */
function spaced(text: string, words: readonly TimedWord[]): string[] {
  const starts: number[] = [];
  let at = 0;
  for (const word of words) {
    const found = text.indexOf(word.text, at);
    if (found === -1) return words.map(({ text: unspaced }) => `${unspaced} `);
    starts.push(found);
    at = found + word.text.length;
  }
  return starts.map((start, index) => text.slice(index === 0 ? 0 : start, starts[index + 1] ?? text.length));
}

function tidy(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/g;

function widthOf(text: string): number {
  return text.length + (text.match(wide)?.length ?? 0);
}

/** Breaks a long text into two lines, at the blank nearest to the middle. */
function onLines(text: string): string {
  if (widthOf(text) <= LINE_WIDTH) return text;
  const middle = text.length / 2;
  const before = text.lastIndexOf(" ", middle);
  const after = text.indexOf(" ", middle);
  const cut = before !== -1 && (after === -1 || middle - before <= after - middle) ? before : after;
  return cut === -1 ? text : `${text.slice(0, cut)}\n${text.slice(cut + 1)}`;
}

/** SubRip. It has no escapes, so arrows in a text are shortened. */
export function srtOf(cues: readonly Cue[]): string {
  const blocks = cues.map(({ start, end, text }, index) => {
    const lines = onLines(text.replaceAll(/-{2,}>/g, "->"));
    return `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${lines}\n`;
  });
  return blocks.join("\n");
}

/** WebVTT. */
export function vttOf(cues: readonly Cue[]): string {
  const blocks = cues.map(({ start, end, text }) => {
    const lines = onLines(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    return `${clock(start, ".")} --> ${clock(end, ".")}\n${lines}\n`;
  });
  return ["WEBVTT\n", ...blocks].join("\n");
}

function clock(milliseconds: number, mark: "," | "."): string {
  const seconds = Math.floor(milliseconds / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const fraction = String(milliseconds % 1_000).padStart(3, "0");
  return parts.map((part) => String(part).padStart(2, "0")).join(":") + mark + fraction;
}
