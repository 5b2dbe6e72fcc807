import { countOf, plainText, wordsOf } from "../../bench/extraction/score.ts";

const runLength = 4;

/**
 * Aligns blocks with the known content: for each block the share of its words that is in it, 0 to 1. A word counts if a
 * run of four words around it, over the borders of blocks too, occurs in the content; a shorter block if it is a whole
 * line of the content.
 */
export function labelBlocks(texts: readonly string[], content: string): Float32Array {
  const blocks = texts.map((text) => wordsOf(plainText(text)));
  const labels = labelByRuns(blocks, wordsOf(content));
  labelByLines(blocks, content, labels);
  dropRepetitions(blocks, wordsOf(content), labels);
  return labels;
}

function labelByRuns(blocks: readonly (readonly string[])[], content: readonly string[]): Float32Array {
  const runs = new Set<string>();
  for (let at = 0; at + runLength <= content.length; at += 1) runs.add(content.slice(at, at + runLength).join(" "));
  const words = blocks.flat();
  const covered = new Uint8Array(words.length);
  for (let at = 0; at + runLength <= words.length; at += 1)
    if (runs.has(words.slice(at, at + runLength).join(" "))) covered.fill(1, at, at + runLength);
  let start = 0;
  return Float32Array.from(blocks, ({ length }) => {
    const own = covered.subarray(start, start + length);
    start += length;
    return length === 0 ? 0 : own.reduce((sum, one) => sum + one, 0) / length;
  });
}

/** Lines of the content go to equal blocks that are not labelled yet, first to those near labelled ones. */
function labelByLines(blocks: readonly (readonly string[])[], content: string, labels: Float32Array): void {
  const left = countOf(content.split("\n").map((line) => wordsOf(line).join(" ")));
  const candidates: { index: number; line: string; nearness: number }[] = [];
  for (const [index, words] of blocks.entries()) {
    const line = words.join(" ");
    if (line === "" || !left.has(line)) continue;
    if ((labels[index] ?? 0) > 0.6) left.set(line, (left.get(line) ?? 0) - 1);
    else candidates.push({ index, line, nearness: nearnessOf(index, labels) });
  }
  for (const { index, line } of candidates.toSorted((one, other) => other.nearness - one.nearness)) {
    const count = left.get(line) ?? 0;
    if (count <= 0) continue;
    left.set(line, count - 1);
    labels[index] = 1;
  }
}

function nearnessOf(index: number, labels: Float32Array): number {
  let sum = 0;
  for (let distance = 1; distance <= 8; distance += 1)
    sum += ((labels[index - distance] ?? 0) + (labels[index + distance] ?? 0)) / distance;
  return sum;
}

/** From the end, unlabels blocks whose words the content has no more of: a page may show the same text twice. */
function dropRepetitions(
  blocks: readonly (readonly string[])[],
  content: readonly string[],
  labels: Float32Array,
): void {
  const wanted = countOf(content);
  const chosen = countOf(blocks.flatMap((words, index) => ((labels[index] ?? 0) < 0.5 ? [] : words)));
  let length = 0;
  let both = 0;
  for (const [word, count] of chosen) {
    length += count;
    both += Math.min(count, wanted.get(word) ?? 0);
  }
  for (let index = blocks.length - 1; index >= 0; index -= 1) {
    const words = blocks[index] ?? [];
    if ((labels[index] ?? 0) < 0.5 || words.length === 0) continue;
    let lost = 0;
    for (const [word, count] of countOf(words)) {
      const all = chosen.get(word) ?? 0;
      const useful = wanted.get(word) ?? 0;
      lost += Math.min(all, useful) - Math.min(all - count, useful);
    }
    if ((both - lost) / (length - words.length + content.length) <= both / (length + content.length)) continue;
    labels[index] = Math.min(labels[index] ?? 0, 0.2);
    length -= words.length;
    both -= lost;
    for (const [word, count] of countOf(words)) chosen.set(word, (chosen.get(word) ?? 0) - count);
  }
}
