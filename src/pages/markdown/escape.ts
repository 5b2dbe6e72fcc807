import { settleEmphasis } from "./emphasis.ts";
import { splitFormulas } from "./written-formulas.ts";

/**
 * Escapes text only where Markdown would read it as markup. Whether it would often depends on the whole paragraph: a star
 * alone is a star. So `markText` puts a mark before each character that might matter, and `resolveMarks` decides when the
 * paragraph is complete. The mark is a character for private use, which in pages is the glyph of an icon.
 */
const mark = "\ue000";

const special = /[\\`*_[\]<&~!|]/;

/** @param text of a text node. */
export function markText(text: string, inCell: boolean): string {
  const plain = /[\ue000-\ue002]/.test(text) ? text.replaceAll(/[\ue000-\ue002]/g, "") : text;
  if (!special.test(plain)) return plain;
  const pieces = splitFormulas(plain);
  if (pieces.length === 1) return markSigns(plain, inCell);
  return pieces
    .map((piece, index) => {
      if (index % 2 === 0) return markSigns(piece, inCell);
      return inCell ? piece.replaceAll("|", "\\|") : piece;
    })
    .join("");
}

function markSigns(plain: string, inCell: boolean): string {
  return plain.replaceAll(/[\\`*_[\]<&~!|]/g, (character, at: number) =>
    character === "|" ? (inCell ? "\\|" : "|") : needsMark(character, plain, at) ? mark + character : character,
  );
}

function needsMark(character: string, text: string, at: number): boolean {
  const next = text[at + 1];
  switch (character) {
    case "<":
      return next === undefined || /[a-z/!?]/i.test(next);
    case "&":
      return /^&(?:[a-z][a-z0-9]{1,31}|#\d{1,7}|#x[0-9a-f]{1,6});/i.test(text.slice(at, at + 40));
    case "\\":
      return next === undefined || /[!-/:-@[-`{-~]/.test(next);
    case "!":
      return next === undefined || next === "[";
    default:
      return true;
  }
}

/** Decides about the marks of a complete paragraph, heading or cell. */
export function resolveMarks(marked: string): string {
  const text = settleEmphasis(marked);
  if (!text.includes(mark)) return text;
  const stars = count(text, /\*/g) >= 2;
  const underscores = count(text, /\ue000_/g) >= 2;
  const ticks = count(text, /`/g) >= 2;
  const tildes = count(text, /~/g) >= 2;
  const brackets = /\ue000\](?:\(|\ue000\[|\[|:)|\ue000\[\^/.test(text);
  return text.replaceAll(/\ue000(.)/g, (_, character: string, at: number) => {
    const before = text[at - 1] ?? " ";
    const after = text[at + 2] === mark ? (text[at + 3] ?? " ") : (text[at + 2] ?? " ");
    const isMarkup = {
      "*": stars && !(isSpace(before) && isSpace(after)),
      _: underscores && !(isWord(before) && isWord(after)) && !(isSpace(before) && isSpace(after)),
      "`": ticks,
      "~": tildes && !(isSpace(before) && isSpace(after)),
      "[": brackets,
      "]": brackets,
      "!": after === "[",
      "<": /[a-z/!?]/i.test(after),
    }[character];
    return isMarkup === false ? character : `\\${character}`;
  });
}

/** Escapes characters that would begin a block at the start of a line. */
export function escapeLineStarts(text: string): string {
  if (!/^[#>\-+*=_`~\d]/m.test(text)) return text;
  return text.replaceAll(
    /^(?:(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|=+(?=\s*$)|(?:-{2,}|_{3,}|\*{3,})\s*$|`{3}(?=[^`]*$)|~{3})|(\d{1,9})([.)])(?=\s|$))/gm,
    (_, sign: string | undefined, digits: string | undefined, end: string | undefined) =>
      sign === undefined ? `${digits ?? ""}\\${end ?? ""}` : `\\${sign}`,
  );
}

/** The text of a link: its brackets are escaped unless they are balanced. */
export function escapeLinkText(text: string): string {
  let depth = 0;
  for (const [bracket] of text.matchAll(/\ue000[[\]]/g)) {
    depth += bracket.endsWith("[") ? 1 : -1;
    if (depth < 0) break;
  }
  return depth === 0 ? text : text.replaceAll(/\ue000([[\]])/g, "\\$1");
}

/** An address in a link: characters that would end it are encoded, balanced parentheses too, which many readers of Markdown end at. */
export function escapeAddress(address: string): string {
  return address.replaceAll(/\s/g, "%20").replaceAll("(", "%28").replaceAll(")", "%29");
}

/** A title in a link, in double quotes. */
export function escapeTitle(title: string): string {
  return title.replaceAll(/\s+/g, " ").trim().replaceAll(/["\\]/g, "\\$&");
}

function count(text: string, pattern: RegExp): number {
  let found = 0;
  for (const _ of text.matchAll(pattern)) found += 1;
  return found;
}

function isSpace(character: string): boolean {
  return /\s/.test(character);
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}
