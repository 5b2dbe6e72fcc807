/** Words that differ in one letter, for a query that found nothing: the index is asked for them, and lists no words itself. */

const ALPHABETS = [
  { letters: "abcdefghijklmnopqrstuvwxyz", only: /^[a-z]+$/ },
  { letters: "абвгдежзиклмнопрстуфхцчшщъыьэюя", only: /^[а-зик-я]+$/ },
];

const LETTERS_MIN = 4;
const LETTERS_MAX = 20;

/**
 * The words that a word becomes by one letter that is missing, too much, another, or changed places with its neighbour. None for a
 * word of other letters than Latin and Cyrillic ones, as words are compared, and for a short or a very long one.
 */
export function nearWords(word: string): string[] {
  const alphabet = ALPHABETS.find(({ only }) => only.test(word))?.letters;
  if (alphabet === undefined || word.length < LETTERS_MIN || word.length > LETTERS_MAX) return [];
  const near = new Set<string>();
  for (let at = 0; at <= word.length; at += 1) {
    const before = word.slice(0, at);
    const after = word.slice(at);
    near.add(before + after.slice(1));
    near.add(before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2));
    for (const letter of alphabet) {
      near.add(before + letter + after);
      near.add(before + letter + after.slice(1));
    }
  }
  near.delete(word);
  return [...near];
}
