/** Counts of one pass over a block's text: of words, unless another unit is named. */
export interface TextFacts {
  /** Runs between spaces that hold a letter or a digit; two characters of Chinese, Japanese or Korean are one word. */
  words: number;
  characters: number;
  capitalised: number;
  shouted: number;
  withDigits: number;
  sentenceEnds: number;
  commas: number;
  /** The last character: 1 if it ends a sentence, 0.5 for a colon, else 0. */
  closed: number;
  money: number;
  functionWords: number;
  /** Runs between spaces without a letter or a digit. */
  separators: number;
}

/** Frequent short words of the languages with Latin letters: prose is full of them, menus are not. */
const functionWords = new Set(
  (
    "the of and to in a is that for it as was with be on by at are this from or an have not you your we our they which but can will has if when how what so do more about " +
    "le la les de des du et en un une est que qui dans pour pas sur au avec ce il vous nous der die das und ist nicht ein eine zu mit auf für von den sich im es auch wir sie " +
    "el los las y por con para del se su lo como más al o di che per non sono da si een het van op dat voor niet zijn met os um uma não na no com"
  ).split(" "),
);
const functionWordLengthMax = 5;

/** How many words a text counts. */
export function countWords(text: string): number {
  return readText(text).words;
}

export function readText(text: string): TextFacts {
  const facts: TextFacts = {
    words: 0,
    characters: text.length,
    capitalised: 0,
    shouted: 0,
    withDigits: 0,
    sentenceEnds: 0,
    commas: 0,
    closed: 0,
    money: 0,
    functionWords: 0,
    separators: 0,
  };
  let start = -1;
  let kinds = 0;
  let wide = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : space;
    if (!isSpace(code)) {
      if (start < 0) start = at;
      const kind = kindOf(code);
      kinds |= kind;
      if (kind === wideLetter) wide += 1;
    } else if (start >= 0) {
      countWord(facts, text, { start, end: at, kinds, wide });
      start = -1;
      kinds = 0;
      wide = 0;
    }
  }
  return facts;
}

const space = 0x20;
// The kinds of characters, as bits.
const upper = 1;
const lower = 2;
const digit = 4;
const otherLetter = 8;
const wideLetter = 16;
const money = 32;
const letterOrDigit = upper | lower | digit | otherLetter | wideLetter;

function isSpace(code: number): boolean {
  if (code <= space) return true;
  if (code < 0xa0) return false;
  return code === 0xa0 || (code >= 0x2000 && code <= 0x200b) || code === 0x3000 || code === 0xfeff;
}

function kindOf(code: number): number {
  if (code < 0x80) {
    if (code >= 0x61 && code <= 0x7a) return lower;
    if (code >= 0x41 && code <= 0x5a) return upper;
    if (code >= 0x30 && code <= 0x39) return digit;
    return code === 0x24 ? money : 0;
  }
  if (code === 0xa3 || code === 0xa5 || (code >= 0x20a0 && code <= 0x20bf)) return money;
  // Signs of Latin-1; punctuation, arrows and symbols; halves of emoji and other rare characters.
  if (code < 0xc0 || code === 0xd7 || code === 0xf7 || (code >= 0x2000 && code < 0x2c00)) return 0;
  if ((code >= 0x3000 && code < 0x3040) || (code >= 0xd800 && code < 0xe000) || code >= 0xfe00) return 0;
  const isWide = (code >= 0x3040 && code < 0x3100) || (code >= 0x3400 && code < 0xa000) || code >= 0xac00;
  return isWide ? wideLetter : otherLetter;
}

/** A run between spaces: its place in the text, the kinds of its characters, and the number of wide ones. */
interface Run {
  readonly start: number;
  readonly end: number;
  readonly kinds: number;
  readonly wide: number;
}

/** Reads codes rather than strings: a word is only taken out of the text if it may be a function word. */
function countWord(facts: TextFacts, text: string, { start, end, kinds, wide }: Run): void {
  const last = text.charCodeAt(end - 1);
  facts.closed = closedBy(last);
  if ((kinds & money) !== 0) facts.money += 1;
  if ((kinds & letterOrDigit) === 0) {
    facts.separators += 1;
    return;
  }
  const length = end - start;
  facts.words += Math.max(1, wide / 2);
  if ((kinds & digit) !== 0) facts.withDigits += 1;
  if (kindOf(text.charCodeAt(start)) === upper) {
    facts.capitalised += 1;
    if (length > 1 && (kinds & (lower | otherLetter)) === 0) facts.shouted += 1;
  }
  if (facts.closed === 1) facts.sentenceEnds += 1;
  else if (commaCodes.has(last)) facts.commas += 1;
  if (length <= functionWordLengthMax && functionWords.has(text.slice(start, end).toLowerCase()))
    facts.functionWords += 1;
}

const codesOf = (characters: string): ReadonlySet<number> =>
  new Set(Array.from(characters, (one) => one.charCodeAt(0)));
const commaCodes = codesOf(",、，");
const sentenceEndCodes = codesOf(".!?。！？…");
const colonCodes = codesOf(":：");

function closedBy(code: number): number {
  if (sentenceEndCodes.has(code)) return 1;
  return colonCodes.has(code) ? 0.5 : 0;
}

/** The words of a text in lower case. */
export function foldedWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
