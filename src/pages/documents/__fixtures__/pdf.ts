/** A piece of text, with its place and size. */
export type Text = readonly [x: number, y: number, size: number, text: string];

export interface MadePdf {
  title?: string;
  /** More of the trailer, an encryption for example. */
  trailer?: string;
}

/** A PDF with one page for each list of texts, in Helvetica. */
export function makePdf(pages: readonly (readonly Text[])[], { title, trailer = "" }: MadePdf = {}): Uint8Array {
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", title === undefined ? "<< >>" : `<< /Title (${title}) /CreationDate (D:20260131120000Z) >>`];
  const kids = pages.map((texts) => {
    const content = texts.map(([x, y, size, text]) => `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET`).join("\n");
    objects.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${objects.length} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`);
    return `${objects.length} 0 R`;
  });
  objects[1] = `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${kids.length} >>`;
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 4 0 R ${trailer} >>\nstartxref\n${file.length}\n%%EOF`;
  return new TextEncoder().encode(file);
}
