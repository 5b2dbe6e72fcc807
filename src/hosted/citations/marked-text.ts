/**
 * The text of a model with marked citations: `<cite id="1,2">a passage</cite>`. The marks are taken out while the text streams;
 * nothing is held back but the possible beginning of a mark.
 *
 *   plain ──opening mark──▶ cited ──closing mark, or the end──▶ plain
 *
 * A mark of a number that no source has is ordinary text.
 */
import type { CitedSource, Sources } from "./sources.ts";

export type TextPiece =
  | { type: "text"; text: string }
  | { type: "open"; sources: readonly CitedSource[] }
  | { type: "close" };

const OPENING = /^<cite\s+id=["']?(\d{1,6}(?:\s*,\s*\d{1,6})*)["']?\s*>/;
const CLOSING = "</cite>";

/** At most so many characters that may become a mark are held back. */
const MARK_CHARACTERS_MAX = 64;
const BEGUN_OPENING = /^<(?:c(?:i(?:t(?:e(?:\s[^<>]*)?)?)?)?)?$/;

export class MarkedText {
  readonly #sources: Sources;
  #held = "";
  #isCited = false;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  push(text: string): TextPiece[] {
    if (this.#sources.isEmpty || (this.#held === "" && !text.includes("<"))) return textPieces(text);
    const pieces: TextPiece[] = [];
    this.#split(this.#held + text, pieces);
    return pieces;
  }

  /** The text has ended. */
  end(): TextPiece[] {
    const rest = textPieces(this.#held);
    this.#held = "";
    if (!this.#isCited) return rest;
    this.#isCited = false;
    return [...rest, { type: "close" }];
  }

  #split(text: string, pieces: TextPiece[]): void {
    this.#held = "";
    let plainFrom = 0;
    for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at)) {
      const rest = text.slice(at, at + MARK_CHARACTERS_MAX);
      const length = this.#markAt(rest, pieces, text.slice(plainFrom, at));
      if (length > 0) {
        at += length;
        plainFrom = at;
      } else if (at + rest.length === text.length && this.#mayBecomeMark(rest)) {
        pieces.push(...textPieces(text.slice(plainFrom, at)));
        this.#held = rest;
        return;
      } else at += 1;
    }
    pieces.push(...textPieces(text.slice(plainFrom)));
  }

  /** The length of the mark that the text begins with; 0 for none. Adds the text before it, and the mark. */
  #markAt(rest: string, pieces: TextPiece[], before: string): number {
    if (this.#isCited) {
      if (!rest.startsWith(CLOSING)) return 0;
      this.#isCited = false;
      pieces.push(...textPieces(before), { type: "close" });
      return CLOSING.length;
    }
    const [mark, numbers = ""] = OPENING.exec(rest) ?? [];
    if (mark === undefined) return 0;
    const sources = numbers.split(",").flatMap((number) => this.#sources.withNumber(Number(number)) ?? []);
    if (sources.length === 0) return 0;
    this.#isCited = true;
    pieces.push(...textPieces(before), { type: "open", sources });
    return mark.length;
  }

  #mayBecomeMark(rest: string): boolean {
    return rest.length < MARK_CHARACTERS_MAX && (this.#isCited ? CLOSING.startsWith(rest) : BEGUN_OPENING.test(rest));
  }
}

function textPieces(text: string): TextPiece[] {
  return text === "" ? [] : [{ type: "text", text }];
}
