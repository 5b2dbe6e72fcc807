/** Subtitles of words whose times are known. */

/** A word, or what an upstream gives a time of instead; in seconds. */
export interface TimedWord {
  text: string;
  start: number;
  end: number;
  /** Who says it, where that is known. */
  speaker?: string;
}

/** What is shown together; in milliseconds. No two overlap. */
export interface Cue {
  start: number;
  end: number;
  text: string;
  speaker: string | undefined;
}

/** Two lines of it are as much as is read at a glance (a Chinese character takes the room of two letters). */
const LINE_WIDTH = 42;
const CUE_WIDTH_MAX = 2 * LINE_WIDTH;
const CUE_MS_MAX = 7_000;

/** A silence after which what was said is taken off. */
const GAP_MS = 1_000;

/** A sentence that is shorter than that may be followed by the next in the same cue. */
const SENTENCE_WIDTH_MIN = 24;
const sentenceEnd = /[.!?…。！？]["'”’)\]»]*\s*$/;

interface Piece extends Cue {
  width: number;
}

/** Words in cues of readable length, which end where sentences, silences or speakers do. */
export function cuesOf(text: string, words: readonly TimedWord[]): Cue[] {
  return grouped(text, words, (cue, next) => {
    if (next.start - cue.end >= GAP_MS || next.end - cue.start > CUE_MS_MAX || next.speaker !== cue.speaker)
      return true;
    if (cue.width + next.width > CUE_WIDTH_MAX) return true;
    return sentenceEnd.test(cue.text) && cue.width >= SENTENCE_WIDTH_MIN;
  });
}

/** What each speaker says until it is another's turn. */
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
  return groups.map(({ start, end, text: said, speaker }) => ({ start, end, text: tidy(said), speaker }));
}

/** The words with their times set right: whatever an upstream says, none begins before the last has ended. */
function piecesOf(text: string, words: readonly TimedWord[]): Piece[] {
  const texts = spaced(text, words);
  let last = 0;
  return words.map((word, index) => {
    const start = Math.max(last, msOf(word.start));
    const end = Math.max(start + 1, msOf(word.end));
    last = end;
    const said = texts[index] ?? "";
    return { start, end, text: said, speaker: word.speaker, width: widthOf(said) };
  });
}

function msOf(seconds: number): number {
  return Number.isFinite(seconds) ? Math.round(seconds * 1_000) : 0;
}

/** Each word with what stands between it and the next one in the text: a blank, punctuation or, in some scripts, nothing. */
function spaced(text: string, words: readonly TimedWord[]): string[] {
  const starts: number[] = [];
  let at = 0;
  for (const word of words) {
    const found = text.indexOf(word.text, at);
    if (found === -1) return words.map((one) => `${one.text} `);
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

/** On two lines where one is too short, cut at the blank that is nearest the middle. */
function onLines(text: string): string {
  if (widthOf(text) <= LINE_WIDTH) return text;
  const middle = text.length / 2;
  const before = text.lastIndexOf(" ", middle);
  const after = text.indexOf(" ", middle);
  const cut = before !== -1 && (after === -1 || middle - before <= after - middle) ? before : after;
  return cut === -1 ? text : `${text.slice(0, cut)}\n${text.slice(cut + 1)}`;
}

/** SubRip. Its arrow has no other form within a text. */
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
  const rest = String(milliseconds % 1_000).padStart(3, "0");
  return parts.map((part) => String(part).padStart(2, "0")).join(":") + mark + rest;
}
