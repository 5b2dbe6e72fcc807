import type { Line } from "./lines.ts";

/** Lines at the top and at the bottom of a page that may repeat on others. */
const edgeLines = 2;

/** Pages on which a line is repeated, at least. */
const repeatsMin = 3;

/** Removes page numbers and titles that stand at the edges of most pages. `pages` hold lines from top to bottom. */
export function withoutRunningLines(pages: readonly Line[][]): Line[][] {
  const counts = new Map<string, number>();
  for (const lines of pages)
    for (const key of new Set(edgesOf(lines).map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const least = Math.max(repeatsMin, pages.length / 3);
  return pages.map((lines) => {
    const running = new Set(edgesOf(lines).filter((line) => (counts.get(keyOf(line)) ?? 0) >= least));
    return lines.filter((line) => !running.has(line));
  });
}

function edgesOf(lines: readonly Line[]): Line[] {
  return lines.length <= 2 * edgeLines ? [...lines] : [...lines.slice(0, edgeLines), ...lines.slice(-edgeLines)];
}

/** The same text at the same height, with any number in it. */
function keyOf({ text, y }: Line): string {
  return `${Math.round(y / 4)} ${text.replaceAll(/\d+|\b[ivxlc]+\b/g, "0")}`;
}
