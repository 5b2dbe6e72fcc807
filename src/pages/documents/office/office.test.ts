import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { bytesOf, pageRequest } from "../../__fixtures__/request.ts";
import type { Page, PageRequest } from "../../page.ts";
import { takeApart } from "../../take-apart.ts";
import { makeZip } from "../__fixtures__/docx.ts";

const read = async (bytes: Uint8Array, changes: Partial<PageRequest> = {}): Promise<Page> =>
  takeApart(bytes, pageRequest({ contentType: "application/octet-stream", ...changes }));

const readFile = async (name: string, changes?: Partial<PageRequest>): Promise<Page> =>
  read(await Bun.file(join(import.meta.dir, "__fixtures__", name)).bytes(), changes);

const failureOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no failure",
    (error: unknown) => error,
  );

const table = "| A | B |\n| --- | --- |\n| 1 | x & y |\n| 2 |  |";
const first = (note: string): string =>
  `# First\n\nA paragraph with **bold**, *italic* and a [link](https://example.com/x?a=1&b=2), ümlaut €, a\\<b. A note${note}.`;
const lists = "- one\n- two\n  - inner\n\n1. first\n2. second";
const quoted = "> quoted words\n\n```\ncode here\n```";
const last = "## Second\n\nLast 日本語.";
const head = "# The Report\n\nAda";

/** Written by other programs: pandoc 2.17, openpyxl 3.1 and odfpy 1.4. */
describe("documents of other programs", () => {
  test.each([
    [
      "report.epub",
      "epub",
      [head, "---", first("1"), lists, table, quoted, last, "1. The text of the note.↩︎"],
      { title: "The Report", author: "Ada", language: "en-GB" },
    ],
    [
      "report.odt",
      "opendocument",
      [head, first("[1]"), lists, table, quoted, last, "---", "1. The text of the note."],
      { title: "The Report", author: "Ada", language: "en-GB" },
    ],
    [
      "report.rtf",
      "rtf",
      [
        "**The Report**\n\nAda",
        first("[1]"),
        "• one\n\n• two\n\n– inner\n\n1\\. first\n\n2\\. second",
        table,
        "quoted words\n\ncode here",
        last,
        "---",
        "1. The text of the note.",
      ],
      { title: "First" },
    ],
    [
      "report.pptx",
      "pptx",
      [
        `#${head}`,
        "---",
        `#${first("1")}`,
        lists,
        table,
        "---",
        "quoted words\n\ncode here\n\n**Second**\n\nLast 日本語.",
        "---",
        "## Notes\n\n1\\. The text of the note.",
      ],
      { title: "The Report", author: "Ada" },
    ],
    [
      "book.xlsx",
      "xlsx",
      [
        "## Sales & more",
        "| Name | Price | When | Share | Yes |  |\n| --- | --- | --- | --- | --- | --- |\n" +
          "| Widget \\| x | 9.99 | 2026-01-31 | 0.125 | TRUE | 19.98 |\n" +
          "| Two<br>lines | 1234567.5 | 2026-01-31 12:30 |  | FALSE |\n|  |\n| after a gap, https://example.com/x |",
        "## Time",
        "|  | 08:15 |\n| --- | --- |\n|  |\n|  | merged |",
      ],
      { title: "Book", author: "openpyxl" },
    ],
    ["sheet.ods", "opendocument", ["## Sheet A", "| Name | Sum |\n| --- | --- |\n| a | 1.50 € |"], {}],
  ] as const)("%s", async (name, kind, parts, metadata) => {
    const page = await readFile(name);
    expect(page.markdown).toBe(parts.join("\n\n"));
    expect(page.kind).toBe(kind);
    expect(page.metadata).toMatchObject(metadata);
    expect(page.warning).toBeUndefined();
  });

  test("their other forms", async () => {
    const wants = { html: true, links: true, images: true, rawHtml: true };
    const { html, links, images, markdown } = await readFile("book.xlsx", { wants });
    expect(html).toContain("<h2>Sales &amp; more</h2><table><thead><tr><th>Name</th>");
    expect({ links, images, markdown }).toEqual({ links: ["https://example.com/x"], images: [], markdown: undefined });
    const odt = await readFile("report.odt", { wants });
    expect(odt.html).toContain("<h1>The Report</h1>");
    expect(odt.links).toEqual(["https://example.com/x?a=1&b=2"]);
  });
});

describe("OpenDocument", () => {
  const make = (body: string, styles = ""): Uint8Array =>
    makeZip({
      mimetype: "application/vnd.oasis.opendocument.text",
      "content.xml": `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e "entity">]><office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    });
  const markdownOf = async (body: string, styles?: string): Promise<string | undefined> =>
    (await read(make(body, styles))).markdown;

  test("remarks and deleted text are no text, blanks and breaks are", async () => {
    const body =
      "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>" +
      '<text:p>a<office:annotation><text:p>remark</text:p></office:annotation><text:s text:c="2"/>b<text:line-break/>c</text:p>';
    expect(await markdownOf(body)).toBe("a b  \nc");
  });

  test("a numbered list in another one, styles that go back to a heading", async () => {
    const styles =
      '<style:style style:name="P1" style:parent-style-name="Title"/><text:list-style style:name="L1"><text:list-level-style-number text:level="1"/></text:list-style>';
    const list =
      '<text:list text:style-name="L1"><text:list-item><text:p>x</text:p><text:list><text:list-item><text:p>y</text:p></text:list-item></text:list></text:list-item></text:list>';
    expect(await markdownOf(`<text:p text:style-name="P1">T</text:p>${list}`, styles)).toBe("# T\n\n1. x\n   - y");
  });

  test("entities of the document are not expanded, and markup is text", async () => {
    expect(await markdownOf("<text:p>&e; &lt;script&gt;x&lt;/script&gt;</text:p>")).toBe("&e; \\<script>x\\</script>");
  });

  test("links that run something have no address", async () => {
    expect(await markdownOf('<text:p><text:a xlink:href="javascript:alert(1)">x</text:a></text:p>')).toBe("x");
  });

  test("cells that are repeated for ever are cut, with a warning", async () => {
    const cell = `<table:table-cell table:number-columns-repeated="1000000000"><text:p>${"y".repeat(50_000)}</text:p></table:table-cell>`;
    const page = await read(
      make(
        `<table:table><table:table-row table:number-rows-repeated="1000000000">${cell}</table:table-row></table:table>`,
      ),
    );
    expect(page.markdown?.length).toBeLessThan(17 * 1024 * 1024);
    expect(page.warning).toBe("not all cells were read: a document may have 100000 cells");
  });

  test.each([
    ["spans", "<text:p>", "<text:span>", "</text:span>", "</text:p>"],
    ["lists", "", "<text:list><text:list-item>", "</text:list-item></text:list>", ""],
    [
      "tables",
      "",
      "<table:table><table:table-row><table:table-cell>",
      "</table:table-cell></table:table-row></table:table>",
      "",
    ],
  ])("elements within each other without end: %s", async (_name, before, open, close, after) => {
    const count = 50_000;
    const body = `${before}${open.repeat(count)}<text:p>deep</text:p>${close.repeat(count)}${after}`;
    expect(await markdownOf(body)).toContain("deep");
  });
});

describe("presentations and books", () => {
  const presentation = (slides: Readonly<Record<string, string>>, ids: readonly string[]): Uint8Array =>
    makeZip({
      "ppt/presentation.xml": `<p:presentation><p:sldIdLst>${ids.map((id) => `<p:sldId r:id="${id}"/>`).join("")}</p:sldIdLst></p:presentation>`,
      "ppt/_rels/presentation.xml.rels": `<Relationships>${Object.keys(slides)
        .map((id) => `<Relationship Id="${id}" Type="http://x/slide" Target="slides/${id}.xml"/>`)
        .join("")}</Relationships>`,
      ...Object.fromEntries(Object.entries(slides).map(([id, xml]) => [`ppt/slides/${id}.xml`, xml])),
      "ppt/embeddings/book.xlsx": "xl/workbook.xml word/document.xml",
    });
  const slide = (text: string, show = ""): string =>
    `<p:sld${show}><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp><p:sp><p:nvPr><p:ph type="sldNum"/></p:nvPr><p:txBody><a:p><a:fld><a:t>7</a:t></a:fld></a:p></p:txBody></p:sp></p:sld>`;

  test("slides in their order, each once, without numbers and hidden ones", async () => {
    const bytes = presentation({ b: slide("B"), a: slide("A"), h: slide("H", ' show="0"') }, [
      "b",
      "a",
      "h",
      "b",
      "gone",
    ]);
    expect((await read(bytes)).markdown).toBe("## B\n\n---\n\n## A");
  });

  test("chapters once each, without scripts, hidden parts and addresses within the book", async () => {
    const chapter =
      '<html><head><title>t</title></head><body><script>x()</script><p>One<br/>two <a href="c2.xhtml#x">in</a> <a href="https://example.com/">out</a><img src="p.png"/></p><p hidden="">gone</p></body></html>';
    const bytes = makeZip({
      mimetype: "application/epub+zip",
      "META-INF/container.xml": '<container><rootfiles><rootfile full-path="O E/b.opf"/></rootfiles></container>',
      "O E/b.opf":
        '<package><metadata><dc:title>Book</dc:title></metadata><manifest><item id="c" href="c%201.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/><itemref idref="c"/></spine></package>',
      "O E/c 1.xhtml": chapter,
    });
    const page = await read(bytes);
    expect(page).toMatchObject({ kind: "epub", metadata: { title: "Book" } });
    expect(page.markdown).toBe("One  \ntwo in [out](https://example.com/)");
  });

  test("an encrypted book is told from an empty one", async () => {
    const bytes = makeZip({
      "META-INF/container.xml": '<container><rootfile full-path="b.opf"/></container>',
      "META-INF/encryption.xml": "<encryption/>",
      "b.opf":
        '<package><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
      "c.xhtml": "",
    });
    expect(await failureOf(read(bytes))).toMatchObject({ failure: "malformed", message: "the book is encrypted" });
  });
});

describe("RTF", () => {
  const markdownOf = async (rtf: string): Promise<string | undefined> => (await read(bytesOf(rtf))).markdown;

  test.each([
    ["code pages", String.raw`{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2}`, "Привет"],
    ["letters of several bytes", String.raw`{\rtf1{\fonttbl{\f0\fcharset128 MS;}}\f0 \'93\'fa\'96\'7b}`, "日本"],
    ["Unicode and what stands for it", String.raw`{\rtf1\uc2 \u8364\'80\'80 \uc1 \u-10179?\u-8704?}`, "€ 😀"],
    ["hidden text", String.raw`{\rtf1 a{\v secret}b}`, "ab"],
    [
      "pictures, styles, unknown groups",
      String.raw`{\rtf1{\stylesheet{\s1 heading 1;}}{\*\unknown x}{\pict ffff}\s1 Head\par\pard text}`,
      "# Head\n\ntext",
    ],
    [
      "links",
      String.raw`{\rtf1{\field{\*\fldinst{HYPERLINK "https://example.com/"}}{\fldrslt{here}}} and {\field{\*\fldinst{HYPERLINK "javascript:x"}}{\fldrslt{there}}}}`,
      "[here](https://example.com/) and there",
    ],
    [
      "lists",
      String.raw`{\rtf1{\listtext\'b7\tab}one\par\pard{\listtext 1.\tab}two\par\pard end}`,
      "- one\n\n1. two\n\nend",
    ],
    [
      "a table",
      String.raw`{\rtf1\trowd\intbl A\cell B\cell\row\trowd\intbl 1\cell\cell\row\pard after}`,
      "| A | B |\n| --- | --- |\n| 1 |  |\n\nafter",
    ],
    ["an end in the middle", String.raw`{\rtf1 a {\b b\'e`, "a **b**"],
    ["binary data that claims to be long", String.raw`{\rtf1 a\bin99999999 bbb}`, "a"],
    ["groups without end", `{\\rtf1 ${"{".repeat(200_000)}x`, "x"],
  ])("%s", async (_name, rtf, markdown) => {
    expect(await markdownOf(rtf)).toBe(markdown);
  });

  test("facts of the document, also in groups of their own", async () => {
    const { metadata } = await read(bytesOf(String.raw`{\rtf1{\info{\title{\b A} title}{\author Ada}}x}`));
    expect(metadata).toMatchObject({ title: "A title", author: "Ada" });
  });
});

describe("archives", () => {
  test.each([
    [
      "one that unpacks to too much",
      makeZip({ "xl/workbook.xml": "" }, { "xl/workbook.xml": 200 * 1024 * 1024 }),
      "too_large",
    ],
    ["a workbook without parts", makeZip({ "xl/workbook.xml": "" }), "malformed"],
    ["a presentation of nothing", makeZip({ "ppt/presentation.xml": "<p" }), "no failure"],
    ["a book without a description", makeZip({ "META-INF/container.xml": "<x/>" }), "malformed"],
    ["OpenDocument without content", makeZip({ mimetype: "application/vnd.oasis.opendocument.text" }), "malformed"],
  ])("%s", async (_name, bytes, expected) => {
    const failure = await failureOf(read(bytes));
    expect(failure).toEqual(expected === "no failure" ? expected : expect.objectContaining({ failure: expected }));
  });
});
