/**
 * Emphasis in a paragraph. Markdown reads a delimiter as such only if the characters on both of its sides allow it: `は**「太字」**です` is
 * text, because a letter is before the delimiter and punctuation behind it. The characters outside are known when the paragraph is
 * complete, so that the pieces of one carry marks around each emphasis until then: characters for private use, as in escape.ts.
 */
const start = "\ue001";
const end = "\ue002";

/** The mark before a character that may have to be escaped (see escape.ts). */
const escapeMark = "\ue000";

/** Both emphases at once, which begin and end with either. */
const bothStars = 3;

/** Puts delimiters of emphasis around a text, inside of its outer spaces, and around each paragraph in it. */
export function surround(text: string, delimiter: string): string {
  if (text.includes("\n") && /\n\s*\n/.test(text)) {
    return text
      .split(/(\s*\n\s*\n\s*)/)
      .map((part, index) => (index % 2 === 0 ? surround(part, delimiter) : part))
      .join("");
  }
  const inner = text.trim();
  if (inner === "") return text === "" ? "" : " ";
  const at = text.indexOf(inner);
  return `${text.slice(0, at)}${start}${delimiter}${inner}${delimiter}${end}${text.slice(at + inner.length)}`;
}

/** Appends a piece of a paragraph to the ones before it: neighbours of the same emphasis become one. */
export function joinPieces(text: string, next: string): string {
  const sign = next.startsWith(start) ? (next[1] ?? "") : "";
  if (sign === "" || !text.endsWith(sign + end)) return text + next;
  const [ends, begins] = [signsAt(text, sign, -1), signsAt(next, sign, 1)];
  if (begins !== ends && begins !== bothStars && ends !== bothStars) return text + next;
  const signs = Math.min(begins, ends);
  return text.slice(0, text.length - lengthOf(text, signs, -1)) + next.slice(lengthOf(next, signs, 1));
}

/** The delimiting signs at the start of a text, or at its end if `step` is -1. A sign of the text itself is marked. */
function signsAt(text: string, sign: string, step: 1 | -1): number {
  let signs = 0;
  for (let at = step === 1 ? 0 : text.length - 1; ; at += step) {
    const character = text[at];
    if (character === sign && text[at - 1] !== escapeMark) signs += 1;
    else if (character !== start && character !== end) return signs;
  }
}

/** The characters that a number of delimiting signs at the start or the end of a text take, with the marks between and outside. */
function lengthOf(text: string, signs: number, step: 1 | -1): number {
  let left = signs;
  let length = 0;
  for (let at = step === 1 ? 0 : text.length - 1; left > 0; at += step) {
    if (text[at] !== start && text[at] !== end) left -= 1;
    length += 1;
  }
  return length;
}

/** Text inside of an emphasis that isn't closed yet. */
interface Open {
  readonly delimiter: string;
  /** The last character outside, before it. */
  readonly before: string;
  text: string;
}

/**
 * Takes the marks out of a complete paragraph. Punctuation that keeps a delimiter from being read is put outside of it; if
 * there is other markup instead, the emphasis is left out.
 */
export function settleEmphasis(text: string): string {
  if (!text.includes(start) && !text.includes(end)) return text;
  const open: Open[] = [{ delimiter: "", before: "", text: "" }];
  const pieces = text.split(/([\ue001\ue002])/);
  for (const [index, piece] of pieces.entries()) {
    const top = open.at(-1);
    if (top === undefined) break;
    if (piece === start)
      open.push({ delimiter: /^[*~]+/.exec(pieces[index + 1] ?? "")?.[0] ?? "", before: lastOf(top), text: "" });
    else if (piece === end && open.length > 1) close(open, firstOf(pieces, index + 1));
    else if (piece !== end) top.text += piece;
  }
  while (open.length > 1) close(open, "");
  return open[0]?.text ?? "";
}

function close(open: Open[], after: string): void {
  const inner = open.pop();
  const outer = open.at(-1);
  if (inner !== undefined && outer !== undefined) outer.text += settled(inner, after);
}

/** The character before the place that is written. Delimiters in a row count as one. */
function lastOf({ before, text }: Open): string {
  return /.$/su.exec(text.replace(/(?<!\ue000)[*~]+$/, ""))?.[0] ?? before;
}

function firstOf(pieces: readonly string[], from: number): string {
  for (let index = from; index < pieces.length; index += 1) {
    const first = /^./su.exec((pieces[index] ?? "").replace(/^[*~\ue001\ue002]+/, ""))?.[0];
    if (first !== undefined) return first;
  }
  return "";
}

/** Signs and escaped ones that mean the same outside of an emphasis. Others may be markup. */
const movable = "(?:\\ue000.|(?![[\\]`*_~<>!&\\\\$|])[\\p{P}\\p{S}])+";
const leading = new RegExp(`^${movable}`, "su");
const trailing = new RegExp(`${movable}$`, "su");

function settled({ delimiter, before, text }: Open, after: string): string {
  if (delimiter === "" || text.length <= 2 * delimiter.length || !text.endsWith(delimiter)) return text;
  let body = text.slice(delimiter.length, -delimiter.length);
  const opens = isOuter(before) || !isSign(/^[*~]*(.)/su.exec(body)?.[1]);
  const closes = isOuter(after) || !isSign(/(.)[*~]*$/su.exec(body)?.[1]);
  if (opens && closes) return text;
  const first = opens ? "" : (leading.exec(body)?.[0] ?? "");
  body = body.slice(first.length);
  const last = closes ? "" : (trailing.exec(body)?.[0] ?? "");
  body = body.slice(0, body.length - last.length);
  const isReadable = body.trim() !== "" && (opens || first !== "") && (closes || last !== "");
  return first + (isReadable ? emphasise(body, delimiter) : body) + last;
}

function emphasise(text: string, delimiter: string): string {
  const inner = text.trim();
  const at = text.indexOf(inner);
  return text.slice(0, at) + delimiter + inner + delimiter + text.slice(at + inner.length);
}

/** White space, punctuation, or the edge of the paragraph. */
function isOuter(character: string): boolean {
  return character === "" || character === escapeMark || /[\s\p{P}]/u.test(character);
}

function isSign(character: string | undefined): boolean {
  return character !== undefined && (character === escapeMark || /[\p{P}\p{S}]/u.test(character));
}
