/** How often each line of each file of `src` was executed, from the text of an `lcov.info`. */
export function countedLines(lcov: string): Map<string, Map<number, number>> {
  const files = new Map<string, Map<number, number>>();
  let lines = new Map<number, number>();
  for (const row of lcov.split("\n")) {
    if (row.startsWith("SF:")) {
      lines = new Map();
      if (row.startsWith("SF:src/")) files.set(row.slice("SF:".length), lines);
    }
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(row) ?? [];
    if (line !== undefined) lines.set(Number(line), Number(count));
  }
  return files;
}

/** The number of lines, by file, that were executed more often than `before`. */
export function moreOften(
  counted: ReturnType<typeof countedLines>,
  before: ReturnType<typeof countedLines>,
): Map<string, number> {
  const path = new Map<string, number>();
  for (const [file, lines] of counted) {
    const earlier = before.get(file);
    const more = [...lines].filter(([line, count]) => count > (earlier?.get(line) ?? 0)).length;
    if (more > 0) path.set(file, more);
  }
  return path;
}
