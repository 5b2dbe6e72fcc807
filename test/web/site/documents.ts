/** Documents that are no HTML, and the texts that have to be found in them, in this order. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type PdfLine, writePdf } from "../../../simulators/shared/pdf.ts";
import { type Route, send } from "./server.ts";

export interface DocumentPage {
  readonly path: string;
  readonly route: Route;
  readonly contains: readonly string[];
}

const report = [
  "Bees in the city",
  "Colonies on roofs bring in more honey than those in the fields around the city.",
  "The reason is not the air but the calendar: something is in flower from March to October.",
  "We weighed twelve hives each evening for two years and compared the curves.",
];

/** Documents that other programs have written. */
const file = (name: string): Buffer =>
  readFileSync(join(import.meta.dirname, "../../../src/pages/documents/office/__fixtures__", name));

/** One column, a heading above it, and two pages. */
function plainPdf(): Buffer {
  const [title = "", ...sentences] = report;
  const first: PdfLine[] = [
    { text: title, x: 60, y: 780, size: 22, bold: true },
    ...sentences.map((text, line) => ({ text, x: 60, y: 740 - line * 18, size: 11 })),
  ];
  const second: PdfLine[] = [
    { text: "Results", x: 60, y: 780, size: 16, bold: true },
    { text: "The median hive on a roof gained 31 kg, the median hive in a field 22 kg.", x: 60, y: 750, size: 11 },
  ];
  return writePdf([first, second], title);
}

const leftColumn = [
  "Rivers carry more than water. In a dry",
  "year the bed of the Aubach lay open for",
  "eleven weeks, and we counted all that it",
  "had hidden since the last flood.",
];
const rightColumn = [
  "Most finds were younger than they looked.",
  "A wheel with spokes of ash was dated to",
  "1951, and the oldest coin had been lost",
  "by somebody who is still alive.",
];

/** Two columns whose lines alternate in the file, as layout programs write them. */
function twoColumnPdf(): Buffer {
  const title: PdfLine = { text: "The bed of the Aubach", x: 60, y: 780, size: 20, bold: true };
  const rows = leftColumn.flatMap((text, line): PdfLine[] => [
    { text, x: 60, y: 730 - line * 16, size: 10 },
    { text: rightColumn[line] ?? "", x: 320, y: 730 - line * 16, size: 10 },
  ]);
  return writePdf([[title, ...rows]], title.text);
}

const wordSpace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const relationSpace = "http://schemas.openxmlformats.org/package/2006/relationships";
const officeRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

function paragraph(text: string, style = ""): string {
  const properties = style === "" ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${properties}<w:r><w:t>${text}</w:t></w:r></w:p>`;
}

function row(cells: readonly string[]): string {
  return `<w:tr>${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join("")}</w:tr>`;
}

/** A document as word processors write it: headings by style, a table, a text in bold. */
function minutes(): Buffer {
  const bold = `<w:p><w:r><w:t xml:space="preserve">It was decided </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>unanimously</w:t></w:r><w:r><w:t>.</w:t></w:r></w:p>`;
  const body = [
    paragraph("Minutes of the spring meeting", "Heading1"),
    paragraph("Nine members met in the library; the treasurer was ill."),
    paragraph("Money", "Heading2"),
    bold,
    `<w:tbl>${row(["Purpose", "Euro"])}${row(["Books", "410"])}${row(["Shelves", "1,200"])}</w:tbl>`,
    paragraph("The next meeting is in October."),
  ].join("");
  const styles = ["Heading1", "Heading2"].map(
    (id) => `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="heading ${id.slice(-1)}"/></w:style>`,
  );
  return writeZip({
    "[Content_Types].xml": xml(
      `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>`,
    ),
    "_rels/.rels": xml(
      `<Relationships xmlns="${relationSpace}"><Relationship Id="r1" Type="${officeRelations}/officeDocument" Target="word/document.xml"/></Relationships>`,
    ),
    "word/_rels/document.xml.rels": xml(
      `<Relationships xmlns="${relationSpace}"><Relationship Id="r1" Type="${officeRelations}/styles" Target="styles.xml"/></Relationships>`,
    ),
    "word/document.xml": xml(`<w:document xmlns:w="${wordSpace}"><w:body>${body}</w:body></w:document>`),
    "word/styles.xml": xml(`<w:styles xmlns:w="${wordSpace}">${styles.join("")}</w:styles>`),
  });
}

function xml(root: string): string {
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${root}`;
}

/** A zip archive without compression. */
function writeZip(files: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const bytes = Buffer.from(text);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    // The first of January 1980, since the same request always gets the same bytes.
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(bytes.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), fields, Buffer.from(name), bytes]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), fields, place, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}

const feed = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>Letters from the harbour</title><link>https://harbour.example/</link><description>News of ships and tides</description>
<item><title>The ferry is late</title><link>https://harbour.example/ferry</link><pubDate>Mon, 04 May 2026 08:00:00 GMT</pubDate><description>Fog until noon, and nobody complains.</description></item>
<item><title>A seal in the dock</title><link>https://harbour.example/seal</link><pubDate>Sun, 03 May 2026 08:00:00 GMT</pubDate><description><![CDATA[<p>It stayed for an <b>hour</b>.</p>]]></description></item>
</channel></rss>`;

const wordType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** All of them, below `/files/`. */
export function documentPages(): DocumentPage[] {
  const json = JSON.stringify({ name: "Ferret", versions: [1, 2], stable: true });
  const note = "Shopping list\n\nflour\n* salt (coarse)\n# not a heading\n";
  const csv = 'name,price,stock\nKettle,"1,200",4\n"Lamp, small",30,0\n';
  return [
    {
      path: "/files/report.pdf",
      route: send(plainPdf(), "application/pdf"),
      contains: [...report, "Results", "31 kg"],
    },
    {
      path: "/files/columns.pdf",
      route: send(twoColumnPdf(), "application/pdf"),
      contains: ["The bed of the Aubach", ...leftColumn, ...rightColumn],
    },
    { path: "/files/unnamed", route: send(plainPdf(), "application/octet-stream"), contains: report },
    {
      path: "/files/minutes.docx",
      route: send(minutes(), wordType),
      contains: [
        "# Minutes of the spring meeting",
        "## Money",
        "It was decided **unanimously**.",
        "| Books | 410 |",
        "October",
      ],
    },
    {
      path: "/files/book.xlsx",
      route: send(file("book.xlsx"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
      contains: ["## Sales & more", "| Widget \\| x | 9.99 | 2026-01-31 | 0.125 | TRUE | 19.98 |"],
    },
    {
      path: "/files/report.epub",
      route: send(file("report.epub"), "application/epub+zip"),
      contains: ["# The Report", "Last 日本語."],
    },
    {
      path: "/files/report.rtf",
      route: send(file("report.rtf"), "application/rtf"),
      contains: ["# First", "Last 日本語."],
    },
    {
      path: "/files/note.txt",
      route: send(note, "text/plain; charset=utf-8"),
      contains: ["Shopping list", "salt (coarse)", "not a heading"],
    },
    {
      path: "/files/data.json",
      route: send(json, "application/json"),
      contains: ["```json", '"name": "Ferret"', '"stable": true'],
    },
    {
      path: "/files/feed.xml",
      route: send(feed, "application/rss+xml"),
      contains: ["Letters from the harbour", "The ferry is late", "A seal in the dock"],
    },
    {
      path: "/files/prices.csv",
      route: send(csv, "text/csv"),
      contains: ["| name | price | stock |", "| Kettle | 1,200 | 4 |", "| Lamp, small | 30 | 0 |"],
    },
    {
      path: "/files/readme.md",
      route: send("# A readme\n\nWith `code` and a [link](https://example.org/).\n", "text/markdown"),
      contains: ["# A readme", "[link](https://example.org/)"],
    },
  ];
}
