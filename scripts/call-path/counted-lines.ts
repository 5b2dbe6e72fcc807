/** How often each line of each file of `src` was executed. */
export type Counted = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Numbers of lines, by file. */
type Lines = Map<string, readonly number[]>;

/** Reads the text of an `lcov.info`. */
export function countedLines(lcov: string): Counted {
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

/** The lines that were executed more often than `before`. */
export function moreOften(counted: Counted, before: Counted): Lines {
  const path: Lines = new Map();
  for (const [file, lines] of counted) {
    const earlier = before.get(file);
    const more = [...lines].filter(([line, count]) => count > (earlier?.get(line) ?? 0)).map(([line]) => line);
    if (more.length > 0) path.set(file, more);
  }
  return path;
}

const constant = /^(?:export )?const \w+ = (?:[\d_]+|0x[\da-f]+|"[^"]*"|`[^`]*`);$/;

/** The lines that declare no number or text for the whole file. `textOf`: the lines of a file. */
export function withoutConstants(lines: Lines, textOf: (file: string) => readonly string[]): Lines {
  const rest: Lines = new Map();
  for (const [file, own] of lines) {
    const text = textOf(file);
    const left = own.filter((line) => !constant.test(text[line - 1] ?? ""));
    if (left.length > 0) rest.set(file, left);
  }
  return rest;
}

/** The lines that are not among `others`. */
export function without(lines: Lines, others: Lines): Lines {
  const rest: Lines = new Map();
  for (const [file, own] of lines) {
    const other = new Set(others.get(file));
    const left = own.filter((line) => !other.has(line));
    if (left.length > 0) rest.set(file, left);
  }
  return rest;
}
