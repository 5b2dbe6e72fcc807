/** A table of Markdown from the texts of its cells, in which bars must be escaped. All rows have as many cells as the header. */
export function tableText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The text of a cell in a table of Markdown, of any text. */
export function cellText(text = ""): string {
  return text
    .trim()
    .replaceAll("|", "\\|")
    .replaceAll(/\s*\n\s*/g, "<br>");
}
