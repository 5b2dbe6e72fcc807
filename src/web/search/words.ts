/** How texts and queries are divided into words, and how these are compared. */

/** The letters of scripts that put no spaces between words, each with its marks: a word for itself. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`;
const WORD = new RegExp(String.raw`${UNSPACED}\p{M}*|(?:(?!${UNSPACED})[\p{L}\p{N}\p{M}])+`, "gu");

const ASCII = /^[\0-\x7f]*$/;

/** The words of a text as they are compared: of any case, and without the accents of Latin, Greek and Cyrillic letters. */
export function wordsOf(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return bare(text).match(WORD) ?? [];
}

/** The words of a text in lower case, with their accents, as the stems of a language need them. */
export function accentedWordsOf(text: string): string[] {
  return text.normalize("NFC").toLowerCase().match(WORD) ?? [];
}

/** A text in the form of its words that is compared. */
export function bare(text: string): string {
  const letters = text.normalize("NFKD").replaceAll(/[\u0300-\u036f]+/g, "");
  // Lower case alone leaves ß beside ss.
  return letters.toUpperCase().toLowerCase().normalize("NFC");
}

/** Whether a text contains a word or phrase as whole words, whatever their case. */
export function containsWords(text: string, part: string): boolean {
  const words = wordsOf(part);
  return words.length > 0 && ` ${wordsOf(text).join(" ")} `.includes(` ${words.join(" ")} `);
}
