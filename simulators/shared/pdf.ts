/** A line of text on a page, in points from the lower left corner. */
export interface PdfLine {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** Of the letters, in points. */
  readonly size: number;
  readonly bold?: boolean;
}

const pageWidth = 595;
const pageHeight = 842;

/**
 * A PDF document in A4 with the given lines on each page, uncompressed and always the same bytes. Letters outside of
 * Windows-1252 are replaced by a question mark.
 */
export function writePdf(pages: readonly (readonly PdfLine[])[], title: string): Buffer {
  const pageIds = pages.map((_, index) => 5 + index * 2);
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R >>`,
    `<< /Type /Pages /Kids [${pageIds.map((id) => `${id} 0 R`).join(" ")}] /Count ${pages.length} >>`,
    font("Helvetica"),
    font("Helvetica-Bold"),
    ...pages.flatMap((lines, index) => [
      pageObject((pageIds[index] ?? 0) + 1),
      streamObject(lines.map(showLine).join("\n")),
    ]),
    `<< /Title (${escaped(title)}) /Producer (Tollgate simulators) >>`,
  ];
  return assemble(objects);
}

function font(name: string): string {
  return `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
}

function pageObject(contentId: number): string {
  const fonts = "<< /Font << /F1 3 0 R /F2 4 0 R >> >>";
  return `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${pageWidth} ${pageHeight}] /Resources ${fonts} /Contents ${contentId} 0 R >>`;
}

function streamObject(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

function showLine({ text, x, y, size, bold = false }: PdfLine): string {
  return `BT /F${bold ? 2 : 1} ${size} Tf 1 0 0 1 ${x} ${y} Tm (${escaped(text)}) Tj ET`;
}

const beyondLatin1 = new Map([
  ["–", "\u0096"],
  ["—", "\u0097"],
  ["‘", "\u0091"],
  ["’", "\u0092"],
  ["“", "\u0093"],
  ["”", "\u0094"],
  ["•", "\u0095"],
  ["€", "\u0080"],
  ["−", "-"],
]);

/** One character for each byte of Windows-1252. */
function escaped(text: string): string {
  const bytes = Array.from(text, (letter) => beyondLatin1.get(letter) ?? (letter > "\u00ff" ? "?" : letter)).join("");
  return bytes.replaceAll(/[\\()]/g, "\\$&");
}

function assemble(objects: readonly string[]): Buffer {
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}
