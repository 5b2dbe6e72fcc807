/** A piece of text, with its place and size. One in angle brackets is written as hexadecimal bytes. */
export type Text = readonly [x: number, y: number, size: number, text: string];

export interface MadePdf {
  title?: string;
  /** More of the trailer, an encryption for example. */
  trailer?: string;
  /** The object of the font; Helvetica without it. */
  font?: string;
  /** The shades of grey of a picture that fills each page, row by row from the top. */
  scan?: { width: number; samples: Uint8Array };
}

const HELVETICA = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

/** A font that is not in the file, whose letters have a built-in encoding of this collection of glyphs. */
export function foreignFont(encoding: string, ordering: string): string {
  const descriptor =
    "<< /Type /FontDescriptor /FontName /Foreign /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /StemV 80 >>";
  const system = `<< /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >>`;
  const descendant = `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Foreign /CIDSystemInfo ${system} /FontDescriptor ${descriptor} >>`;
  return `<< /Type /Font /Subtype /Type0 /BaseFont /Foreign /Encoding /${encoding} /DescendantFonts [${descendant}] >>`;
}

/** A PDF with one page for each list of texts. */
export function makePdf(
  pages: readonly (readonly Text[])[],
  { title, trailer = "", font = HELVETICA, scan }: MadePdf = {},
): Uint8Array {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "",
    font,
    title === undefined ? "<< >>" : `<< /Title (${title}) /CreationDate (D:20260131120000Z) >>`,
  ];
  if (scan !== undefined) {
    const height = scan.samples.length / scan.width;
    const hex = `${Buffer.from(scan.samples).toString("hex")}>`;
    objects.push(
      `<< /Type /XObject /Subtype /Image /Width ${scan.width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /ASCIIHexDecode /Length ${hex.length} >>\nstream\n${hex}\nendstream`,
    );
  }
  const kids = pages.map((texts) => {
    const picture = scan === undefined ? [] : ["q 600 0 0 800 0 0 cm /I1 Do Q"];
    const shown = texts.map(
      ([x, y, size, text]) => `BT /F1 ${size} Tf ${x} ${y} Td ${text.startsWith("<") ? text : `(${text})`} Tj ET`,
    );
    const content = [...picture, ...shown].join("\n");
    objects.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${objects.length} 0 R /Resources << /Font << /F1 3 0 R >> ${scan === undefined ? "" : "/XObject << /I1 5 0 R >>"} >> >>`,
    );
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
