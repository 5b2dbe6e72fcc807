/** A Markdown table: the head, then a line for each row. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map(row).join("\n");
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** A document with another text between two lines that it contains once. Throws if it does not. */
export function between(document: string, begin: string, end: string, text: string): string {
  const [before, rest, ...more] = document.split(begin);
  const [, after, ...later] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined || more.length + later.length > 0) {
    throw new Error(`the document needs these two lines, once:\n${begin}\n${end}`);
  }
  return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}
