/** Counts of one pass over a block's text: of words, unless another unit is named. */
export interface TextFacts {
  /** Runs between spaces that hold a letter or a digit; two characters of Chinese, Japanese or Korean are one word. */
  readonly words: number;
  readonly characters: number;
  readonly capitalised: number;
  readonly shouted: number;
  readonly withDigits: number;
  readonly sentenceEnds: number;
  readonly commas: number;
  /** The last character: 1 if it ends a sentence, 0.5 for a colon, else 0. */
  readonly closed: number;
  readonly money: number;
  readonly functionWords: number;
  /** Runs between spaces without a letter or a digit. */
  readonly separators: number;
}

const currency = /[$€£¥₹₩]|\b(?:USD|EUR|GBP)\b/;
/** Frequent short words of the languages with Latin letters: prose is full of them, menus are not. */
const functionWords = new Set(
  (
    "the of and to in a is that for it as was with be on by at are this from or an have not you your we our they which but can will has if when how what so do more about " +
    "le la les de des du et en un une est que qui dans pour pas sur au avec ce il vous nous der die das und ist nicht ein eine zu mit auf für von den sich im es auch wir sie " +
    "el los las y por con para del se su lo como más al o di che per non sono da si een het van op dat voor niet zijn met os um uma não na no com"
  ).split(" "),
);
const wideLetter = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
const wideLetters = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;
const letterOrDigit = /[\p{L}\p{N}]/u;
const plainWord = /[A-Za-z0-9]/;

/** How many words a text counts. */
export function countWords(text: string): number {
  let words = 0;
  for (const word of partsOf(text)) words += weightOf(word);
  return words;
}

export function readText(text: string): TextFacts {
  const facts = {
    words: 0,
    capitalised: 0,
    shouted: 0,
    withDigits: 0,
    sentenceEnds: 0,
    commas: 0,
    money: 0,
    functionWords: 0,
    separators: 0,
  };
  for (const word of partsOf(text)) {
    const weight = weightOf(word);
    if (weight === 0) {
      facts.separators += 1;
      continue;
    }
    facts.words += weight;
    const first = word.charCodeAt(0);
    if (first >= 65 && first <= 90) {
      facts.capitalised += 1;
      if (word.length > 1 && word === word.toUpperCase()) facts.shouted += 1;
    }
    if (/\d/.test(word)) facts.withDigits += 1;
    const last = word.at(-1) ?? "";
    if (".!?。".includes(last)) facts.sentenceEnds += 1;
    else if (",、，".includes(last)) facts.commas += 1;
    if (word.length <= 5 && functionWords.has(word.toLowerCase())) facts.functionWords += 1;
    if (currency.test(word)) facts.money += 1;
  }
  return { ...facts, characters: text.length, closed: closedBy(text.trimEnd().at(-1)) };
}

function partsOf(text: string): readonly string[] {
  const trimmed = text.trim();
  return trimmed === "" ? [] : trimmed.split(/\s+/);
}

function weightOf(word: string): number {
  if (!wideLetter.test(word)) return plainWord.test(word) || letterOrDigit.test(word) ? 1 : 0;
  return Math.max(1, (word.match(wideLetters)?.length ?? 0) / 2);
}

function closedBy(end: string | undefined): number {
  if (end === undefined) return 0;
  if (".!?。！？…".includes(end)) return 1;
  return end === ":" || end === "：" ? 0.5 : 0;
}

/** The words of a text in lower case. */
export function foldedWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
