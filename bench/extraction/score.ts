/** How `evaluate.mjs` of the corpus scores: F1 over counted words, Markdown's marks left out. */

export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/^[ \t]*[#>|*+-]+[ \t]*/gm, "")
    .replaceAll(/[|*`\\]/g, " ");
}

export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

export function countOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

export function f1Of(found: readonly string[], expected: readonly string[]): number {
  if (expected.length === 0) return found.length === 0 ? 1 : 0;
  const wanted = countOf(expected);
  let both = 0;
  for (const [word, count] of countOf(found)) both += Math.min(count, wanted.get(word) ?? 0);
  return found.length === 0 ? 0 : (2 * both) / (found.length + expected.length);
}

export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
