import { describe, expect, test } from "bun:test";
import { bytesOf, pageRequest } from "../__fixtures__/request.ts";
import type { Page, PageRequest } from "../page.ts";
import { takeApart } from "../take-apart.ts";
import { makeDocx, makeZip } from "./__fixtures__/docx.ts";
import { foreignFont, makePdf, type Text } from "./__fixtures__/pdf.ts";

async function read(
  bytes: Uint8Array | string,
  contentType?: string,
  changes: Partial<PageRequest> = {},
): Promise<Page> {
  return takeApart(typeof bytes === "string" ? bytesOf(bytes) : bytes, pageRequest({ contentType, ...changes }));
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "no failure",
    (error: unknown) => error,
  );
}

describe("PDF", () => {
  const lines = (texts: readonly string[], x: number, y: number): Text[] =>
    texts.map((text, index) => [x, y - index * 14, 10, text]);

  test("is read from a Buffer too, as documents of several pieces arrive", async () => {
    const pdf = Buffer.from(makePdf([[[50, 750, 12, "A report"]]]));
    expect((await read(pdf, "application/pdf")).markdown).toContain("A report");
    expect(pdf.length).toBeGreaterThan(0);
  });

  test("lines are paragraphs, larger text is a heading, divided words are joined", async () => {
    const page = await read(
      makePdf(
        [
          [
            [50, 750, 20, "A report"],
            ...lines(["The first para-", "graph of it."], 50, 700),
            ...lines(["The second."], 50, 650),
          ],
        ],
        { title: "Report" },
      ),
      "application/octet-stream",
    );
    expect(page).toMatchObject({
      kind: "pdf",
      markdown: "# A report\n\nThe first paragraph of it.\n\nThe second.",
      metadata: { title: "Report", publishedTime: "2026-01-31T12:00:00Z" },
      pdfPages: 1,
      totalPdfPages: 1,
    });
  });

  test("two columns are read one after the other", async () => {
    const left = lines(
      ["left one is about as wide as this", "left two is about as wide as this", "left three is about as wide as it"],
      50,
      700,
    );
    const right = lines(
      [
        "right one is about as wide as this",
        "right two is about as wide as this",
        "right three is as wide as the others",
      ],
      330,
      700,
    );
    const { markdown } = await read(
      makePdf([
        [
          [50, 750, 10, "A line that goes across both of the columns of this page, so that it is read first of all"],
          ...left,
          ...right,
        ],
      ]),
    );
    expect(markdown?.replaceAll("\n\n", " ")).toMatch(
      /^A line .* left one .* left two .* left three .* right one .* right two .* right three /,
    );
  });

  /** Lines of some 240 points; the last one is short. */
  const column = (name: string, count: number, x: number, y: number): Text[] =>
    lines(
      Array.from({ length: count }, (_, index) =>
        index === count - 1 ? `end of ${name}` : `${name}${index} is about as wide as this column of text`,
      ),
      x,
      y,
    );
  const wide = (text: string, y: number): Text => [
    50,
    y,
    10,
    `${text} goes across both of the columns of this page, from its left edge to the right one, as titles do`,
  ];
  const orderOf = (markdown: string | undefined): string[] =>
    markdown?.match(/end of \w|Figure|Abstract|[A-Z]0|Heading/g) ?? [];

  test("columns that stand close together, with figures across them, and one longer than the other", async () => {
    const { markdown } = await read(
      makePdf([
        [
          wide("Abstract", 750),
          [50, 720, 12, "Heading"],
          ...column("A", 6, 50, 700),
          ...column("B", 7, 275, 714),
          wide("Figure", 600),
          ...column("C", 9, 50, 570),
          ...column("D", 4, 275, 570),
          wide("Figure", 430),
        ],
      ]),
    );
    const order = "Abstract,Heading,A0,end of A,B0,end of B,Figure,C0,end of C,D0,end of D,Figure";
    expect(orderOf(markdown)).toEqual(order.split(","));
  });

  test("three columns", async () => {
    const texts = ["A", "B", "C"].flatMap((name, index) =>
      lines(
        ["0 has words as wide as all", "1 has words as wide as all", "2 has words as wide as all", " ends here"].map(
          (text) => name + text,
        ),
        50 + index * 150,
        700,
      ),
    );
    const { markdown } = await read(makePdf([texts]));
    expect(markdown?.match(/[ABC] ends|[ABC]0/g)).toEqual(["A0", "A ends", "B0", "B ends", "C0", "C ends"]);
  });

  test("rows of cells are a table", async () => {
    const row = (y: number, ...cells: string[]): Text[] => cells.map((text, index) => [50 + index * 120, y, 10, text]);
    const pdf = makePdf([
      [
        wide("This", 750),
        ...row(700, "Name", "Count", "Price"),
        ...row(685, "Pears a|b", "12", "4.50"),
        ...row(670, "Apples", "3", "1.20"),
      ],
    ]);
    const page = await read(pdf, undefined, { wants: { markdown: true, html: true } });
    expect(page.markdown?.split("\n\n")[1]).toBe(
      "| Name | Count | Price |\n| --- | --- | --- |\n| Pears a\\|b | 12 | 4.50 |\n| Apples | 3 | 1.20 |",
    );
    expect(page.html).toContain("<tr><th>Name</th><th>Count</th><th>Price</th></tr><tr><td>Pears a|b</td>");
  });

  test("what begins like Markdown is text", async () => {
    const pdf = makePdf([[...lines(["# no heading"], 50, 750), ...lines(["> no quote"], 50, 700)]]);
    const { markdown, html } = await read(pdf, undefined, { wants: { markdown: true, html: true } });
    expect(markdown).toBe("\\# no heading\n\n\\> no quote");
    expect(html).toBe("<p># no heading</p>\n<p>&gt; no quote</p>");
  });

  test("page numbers and running titles are left out", async () => {
    const pages = Array.from({ length: 4 }, (_, index): Text[] => [
      [50, 780, 9, "A running title"],
      ...lines(
        ["Some text", `of page ${["one", "two", "three", "four"][index]}`, "with more", "than four lines", "on it."],
        50,
        700,
      ),
      [300, 20, 9, `Page ${index + 1} of 4`],
    ]);
    const { markdown } = await read(makePdf(pages));
    expect(markdown).not.toContain("running title");
    expect(markdown).not.toContain("of 4");
    expect(markdown).toContain("of page three");
  });

  test.each([
    ["90ms-RKSJ-H", "Japan1", "<93FA967B8CEA>", "日本語"],
    ["UniJIS-UTF16-H", "Japan1", "<65E5672C8A9E>", "日本語"],
    ["UniGB-UCS2-H", "GB1", "<4E2D6587>", "中文"],
    ["ETen-B5-V", "CNS1", "<A4A4A4E5>", "中文"],
    ["KSCms-UHC-H", "Korea1", "<C7D1B1B9BEEE>", "한국어"],
    ["Unknown-H", "Japan1", "<93FA967B8CEA>", ""],
  ])("letters in the encoding %s, which it only names", async (encoding, ordering, text, expected) => {
    const pdf = makePdf([[[50, 700, 12, text]]], { font: foreignFont(encoding, ordering) });
    expect((await read(pdf)).markdown).toBe(expected);
  });

  test("no more pages than asked for", async () => {
    const page = await read(makePdf(["one", "two", "three"].map((text): Text[] => [[50, 700, 10, text]])), undefined, {
      pdf: { parse: true, pagesMax: 2 },
    });
    expect(page).toMatchObject({ pdfPages: 2, totalPdfPages: 3, warning: "2 of 3 pages were read" });
    expect(page.markdown).not.toContain("three");
  });

  test("as it is, where it is not to be parsed", async () => {
    const bytes = makePdf([[]]);
    expect((await read(bytes, undefined, { pdf: { parse: false, pagesMax: 1 } })).markdown).toBe(bytes.toBase64());
  });

  test("without text: a warning", async () => {
    expect(await read(makePdf([[]]))).toMatchObject({
      markdown: "",
      warning: "the PDF has no text: its pages are images",
    });
  });

  test("one that is broken or encrypted is refused by name", async () => {
    expect(await failureOf(read("%PDF-1.7\nnothing else"))).toMatchObject({
      failure: "malformed",
      message: "the PDF is broken",
    });
    const trailer = `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${"00".repeat(32)}> /U <${"11".repeat(32)}> >>`;
    expect(await failureOf(read(makePdf([[]], { trailer })))).toMatchObject({
      failure: "malformed",
      message: "the PDF needs a password",
    });
  });

  test("one whose pages refer to each other ends", async () => {
    const loop = new TextDecoder().decode(makePdf([[[50, 700, 10, "x"]]])).replace("/Kids [6 0 R]", "/Kids [2 0 R]");
    expect(await failureOf(read(loop))).toBeDefined();
  });
});

describe("Word", () => {
  const paragraph = (text: string, style = ""): string =>
    `<w:p><w:pPr>${style === "" ? "" : `<w:pStyle w:val="${style}"/>`}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;

  test("headings, paragraphs and tables", async () => {
    const cell = (text: string): string => `<w:tc>${paragraph(text)}</w:tc>`;
    const bytes = makeDocx(
      `${paragraph("Title", "Heading1")}${paragraph("Text &amp; more")}<w:tbl><w:tr>${cell("a")}${cell("b")}</w:tr></w:tbl>`,
    );
    expect(await read(bytes, "application/octet-stream")).toMatchObject({
      kind: "docx",
      markdown: "# Title\n\nText & more\n\n|  |  |\n| --- | --- |\n| a | b |",
    });
  });

  test("a title, a quote and lines of code, by their styles", async () => {
    const bytes = makeDocx(
      [["A report", "Title"], ["Text"], ["Said so", "Quote"], ["a = 1", "SourceCode"], ["  b", "SourceCode"]]
        .map(([text = "", style]) => paragraph(text, style))
        .join(""),
    );
    const { markdown, metadata } = await read(bytes, "application/octet-stream");
    expect(markdown).toBe("# A report\n\nText\n\n> Said so\n\n```\na = 1\n  b\n```");
    expect(metadata.title).toBe("A report");
  });

  test("one that unpacks to too much is refused", async () => {
    const bytes = makeZip({ "word/document.xml": "<x/>" }, { "word/document.xml": 2_000_000_000 });
    expect(await failureOf(read(bytes))).toMatchObject({ failure: "too_large" });
  });

  test("one that is broken is refused", async () => {
    expect(await failureOf(read(makeZip({ "word/document.xml": "<w:document" })))).toMatchObject({
      failure: "malformed",
    });
    expect(await failureOf(read(`PK\u0003\u0004 word/document.xml`))).toMatchObject({ failure: "unsupported" });
  });

  test("entities of its own are not expanded", async () => {
    const hostile = makeZip({
      "word/document.xml": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><w:document>&b;</w:document>',
    });
    expect(await failureOf(read(hostile))).toMatchObject({ failure: "malformed" });
  });
});

describe("documents of text", () => {
  const cases: readonly [name: string, text: string, type: string | undefined, kind: string, markdown: string][] = [
    ["plain text", "a\r\n  b *c*\n", "text/plain", "text", "a\n  b *c*"],
    ["JSON", '{"a":[1]}', "application/json", "json", '```json\n{\n  "a": [\n    1\n  ]\n}\n```'],
    ["JSON by a vendor's type", '{"a":1}', "application/vnd.x+json", "json", '```json\n{\n  "a": 1\n}\n```'],
    ["JSON without a type", '{"a":1}', undefined, "json", '```json\n{\n  "a": 1\n}\n```'],
    [
      "JSON keeps its numbers and members as they are",
      '{"id":12345678901234567890,"f":1.0,"e":1e400,"a":{},"a":"\\u00e9\\"{","l":[]}',
      "application/json",
      "json",
      '```json\n{\n  "id": 12345678901234567890,\n  "f": 1.0,\n  "e": 1e400,\n  "a": {},\n  "a": "é\\"{",\n  "l": []\n}\n```',
    ],
    ["JSON that is broken", '{"a":', "application/json", "json", '```json\n{"a":\n```'],
    ["XML", "<?xml version='1.0'?><a>b</a>", "application/xml", "xml", "```xml\n<?xml version='1.0'?><a>b</a>\n```"],
    ["CSV", 'a;b\n"1;2";x|y\n', "text/csv", "csv", "| a | b |\n| --- | --- |\n| 1;2 | x\\|y |"],
    [
      "CSV whose rows differ",
      "a,b\n1\n1,2,3",
      "text/csv",
      "csv",
      "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 1 | 2 | 3 |",
    ],
    ["CSV with a quote that never ends", 'a,b\n"1,2\n', "text/csv", "csv", '```csv\na,b\n"1,2\n```'],
    ["Markdown", "# A\n\n*b*", "text/markdown", "markdown", "# A\n\n*b*"],
    ["HTML without a type", "<!DOCTYPE html><p>a", undefined, "html", "a"],
    [
      "XHTML as XML",
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>a</p></body></html>',
      "application/xhtml+xml",
      "html",
      "a",
    ],
    [
      "a feed that calls itself HTML",
      "<?xml version='1.0'?><rss><channel><title>News</title><item><title>One</title><link>https://a.test/1</link><description>&lt;p&gt;a &lt;b&gt;b&lt;/b&gt;</description></item></channel></rss>",
      "text/html",
      "feed",
      "# News\n\n## [One](https://a.test/1)\n\na **b**",
    ],
  ];
  const atom = (entry: string): string =>
    `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>One</title>${entry}</entry></feed>`;
  const feeds: typeof cases = [
    [
      "a feed whose text is elements",
      atom(
        '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>a <em>b</em></p><p>c<br/>d</p></div></content>',
      ),
      "application/atom+xml",
      "feed",
      "# News\n\n## One\n\na *b*\n\nc  \nd",
    ],
    [
      "a feed whose authors have an address",
      atom("<author><name>Bob</name><email>bob@site.test</email></author>"),
      "application/atom+xml",
      "feed",
      "# News\n\n## One\n\nBob",
    ],
  ];
  const types: typeof cases = [
    ["JSON that calls itself HTML", '{"a":"<p>b"}', "text/html", "json", '```json\n{\n  "a": "<p>b"\n}\n```'],
    [
      "XHTML whose elements end in themselves",
      '<html><head><title/><script src="a"/></head><body><a id="x"/><p>a</p></body></html>',
      "application/xhtml+xml",
      "html",
      "a",
    ],
    ["two types, of which the last counts", "<p>a", "text/plain, text/html", "html", "a"],
    ["one type twice", "<p>a", "text/html, text/html; charset=utf-8", "html", "a"],
    ["types that are none", "<p>a", "html", "html", "a"],
    ["any type", "<p>a", "*/*", "html", "a"],
    ["a zero in a page", `<p>a\0b</p>${" ".repeat(200)}`, "text/html", "html", "ab"],
  ];
  for (const [name, text, type, kind, markdown] of [...cases, ...feeds, ...types]) {
    test(name, async () => expect(await read(text, type)).toMatchObject({ kind, markdown }));
  }

  test.each([
    ["text/html; charset=utf-16le", "<!doctype html><p>日本語のページ</p>", "日本語のページ"],
    ["text/plain; charset=utf-16", "日本語", "日本語"],
    ["text/html", "<!doctype html><p>zażółć gęślą jaźń</p>", "zażółć gęślą jaźń"],
  ])("UTF-16 without a mark, as %s", async (type, text, markdown) => {
    expect((await read(Buffer.from(text, "utf16le"), type)).markdown).toBe(markdown);
  });

  test("source code by its address", async () => {
    expect((await read("x = 1", "text/plain", { url: "https://site.test/a.py" })).markdown).toBe(
      "```python\nx = 1\n```",
    );
  });

  test("links that a text mentions", async () => {
    const page = await read("see https://a.test/x, (https://a.test/y#z) and https://a.test/x", "text/plain", {
      wants: { links: true },
    });
    expect(page.links).toEqual(["https://a.test/x", "https://a.test/y"]);
  });

  test("a text as HTML is escaped", async () => {
    expect((await read("<b>", "text/plain", { wants: { html: true } })).html).toBe("<pre>&lt;b&gt;</pre>");
  });
});

test("a long text that calls itself HTML is text", async () => {
  const text = "Some words of a line.\n".repeat(50_000);
  expect(await read(Buffer.from(text), "text/html")).toMatchObject({ kind: "text", markdown: text.trimEnd() });
  expect(await read(Buffer.from(`${text}<p>`), "text/html")).toMatchObject({ kind: "html" });
  expect(await read(Buffer.from("Some words.\nOf a line."), "text/html")).toMatchObject({ kind: "html" });
});

test("a table of text beyond its bounds is cut, with a warning", async () => {
  const rows = (count: number): Buffer => Buffer.from("a,b\n".repeat(count));
  expect((await read(rows(50_000), "text/csv")).warning).toBeUndefined();
  const cut = await read(rows(50_001), "text/csv");
  expect([cut.warning, cut.markdown?.split("\n").length]).toEqual([
    "at most 50000 rows and 200 columns were read",
    50_001,
  ]);
  expect((await read(Buffer.from(`${"a,".repeat(200)}b\n`), "text/csv")).warning).toContain("200 columns");
});

describe("what has no reader is refused by name", () => {
  const cases: readonly [name: string, hex: string, type: string | undefined][] = [
    ["a PNG image", "89504e470d0a1a0a", "text/html"],
    ["a video or an AVIF image", "00000018667479706d703432", undefined],
    ["a ZIP archive", "504b030414000000", undefined],
    ["a gzip archive", "1f8b0800", "text/html"],
    ["a document of Microsoft Office 97", "d0cf11e0a1b11ae1", "application/msword"],
    ["binary data (application/x-thing)", "0102000304", "application/x-thing"],
    ["an image (image/svg+xml)", "3c7376673e", "image/svg+xml"],
    ["an audio (audio/x-thing)", "0102", "audio/x-thing"],
  ];
  for (const [name, hex, type] of cases) {
    test(name, async () => {
      const error = await failureOf(read(Uint8Array.fromHex(hex), type));
      expect(error).toMatchObject({
        failure: "unsupported",
        message: `the address leads to ${name}, which can't be read as a page`,
      });
    });
  }
});
