/** Numbers as the tables show them; a dash without a measurement. */
export function count(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString("en-US") : "–";
}

export function decimals(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

export function milliseconds(value: number): string {
  return decimals(value, Math.abs(value) < 10 ? 3 : 1);
}

export function microseconds(value: number): string {
  return decimals(value, value < 100 ? 1 : 0);
}

export function megabytes(bytes: number): string {
  return decimals(bytes / 1e6, 0);
}

export function percent(share: number): string {
  return decimals(share * 100, 0);
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, index) => (index === 0 ? "---" : "---:"));
  return [tableLine(head), tableLine(rule), ...rows.map(tableLine)].join("\n");
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
