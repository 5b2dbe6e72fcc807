import { getDocumentProxy } from "unpdf";
import { z } from "zod";
import type { Page, PageMetadata, PageRequest } from "../../page.ts";
import { PageError } from "../../page-error.ts";
import { linksIn } from "../text-links.ts";
import { BuiltInCMaps } from "./built-in-cmaps.ts";
import { type Line, linesOf, type PlacedText } from "./lines.ts";
import { blocksOf, paragraphsOf, type PdfBlock } from "./paragraphs.ts";
import { readingOrder } from "./reading-order.ts";
import { withoutRunningLines } from "./running-lines.ts";
import { writeHtml, writeMarkdown } from "./write-blocks.ts";

/** Pieces of text on one page, and on all pages. Real pages have some thousands; drawings made of letters have more. */
const pageTextsMax = 100_000;
const textsMax = 1_000_000;

/**
 * Reads the text of a PDF: columns one after the other, headings by their size, without page numbers.
 * @throws PageError `malformed` for one that is broken or needs a password.
 */
export async function readPdf(
  bytes: Uint8Array,
  { wants, pdf: { pagesMax, isOcr = false, recognized = {} } }: PageRequest,
): Promise<Omit<Page, "kind">> {
  const document = await open(bytes);
  const total = document.numPages;
  const count = Math.min(total, pagesMax);
  const pages: PlacedText[][] = [];
  let left = textsMax;
  for (let number = 1; number <= count && left > 0; number += 1) {
    const texts = await readPage(document, number);
    left -= texts.length;
    pages.push(texts);
  }
  const lines = withoutRunningLines(pages.map(linesOf)).map((page) => readingOrder(page));
  const scannedPages = lines.flatMap(({ length }, index) =>
    (isOcr || length === 0) && recognized[index + 1] === undefined ? [index + 1] : [],
  );
  const blocks = blocksIn(lines, recognized);
  const markdown = writeMarkdown(blocks);
  const metadata = await readMetadata(document, lines.flat()[0]?.text);
  await document.loadingTask.destroy();
  return {
    ...(wants.markdown === true && { markdown }),
    ...(wants.html === true && { html: writeHtml(blocks) }),
    ...(wants.links === true && { links: linksIn(markdown) }),
    ...(wants.images === true && { images: [] }),
    metadata,
    needsBrowser: false,
    pdfPages: pages.length,
    totalPdfPages: total,
    ...(scannedPages.length > 0 && { scannedPages }),
    ...warningOf(markdown, pages.length, total),
  };
}

/** Pages with text together, since paragraphs go on from one to the next; between them those that a model has read. */
function blocksIn(pages: readonly (readonly Line[])[], recognized: Readonly<Record<number, string>>): PdfBlock[] {
  let blocks: PdfBlock[] = [];
  let lines: Line[] = [];
  const flush = (): void => {
    blocks = [...blocks, ...blocksOf(paragraphsOf(lines))];
    lines = [];
  };
  for (const [index, page] of pages.entries()) {
    const text = recognized[index + 1];
    if (text === undefined) lines.push(...page);
    else flush();
    if (text !== undefined && text !== "") blocks.push({ kind: "markdown", text });
  }
  flush();
  return blocks;
}

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

async function open(bytes: Uint8Array): Promise<PdfDocument> {
  try {
    // A copy, since the reader takes the memory over; and not by `slice`, since the reader refuses a Buffer.
    return await getDocumentProxy(new Uint8Array(bytes), {
      useSystemFonts: false,
      BinaryDataFactory: BuiltInCMaps,
      stopAtErrors: false,
      verbosity: 0,
    });
  } catch (error) {
    const isLocked = error instanceof Error && error.name === "PasswordException";
    throw new PageError("malformed", isLocked ? "the PDF needs a password" : "the PDF is broken", { cause: error });
  }
}

/** A page that can't be read has no text; the others do. Blanks bridge the gaps between columns, and are left out. */
async function readPage(document: PdfDocument, number: number): Promise<PlacedText[]> {
  try {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return items.slice(0, pageTextsMax).flatMap((item): PlacedText[] => {
      if (!("str" in item) || item.str.trim() === "") return [];
      const [a = 0, b = 0, , , x = 0, y = 0] = item.transform as number[];
      return [{ text: item.str, x, y, width: item.width, size: item.height > 0 ? item.height : Math.hypot(a, b) }];
    });
  } catch {
    return [];
  }
}

const infoSchema = z.object({
  Title: z.string().trim().min(1).optional().catch(undefined),
  Author: z.string().trim().min(1).optional().catch(undefined),
  Subject: z.string().trim().min(1).optional().catch(undefined),
  Keywords: z.string().trim().min(1).optional().catch(undefined),
  CreationDate: z.string().optional().catch(undefined),
  ModDate: z.string().optional().catch(undefined),
});

async function readMetadata(document: PdfDocument, firstLine: string | undefined): Promise<PageMetadata> {
  const { info } = await document.getMetadata().catch(() => ({ info: {} }));
  const read = infoSchema.safeParse(info);
  const facts = read.success ? read.data : {};
  const metadata = {
    title: facts.Title ?? firstLine,
    author: facts.Author,
    description: facts.Subject,
    keywords: facts.Keywords,
    publishedTime: isoDate(facts.CreationDate),
    modifiedTime: isoDate(facts.ModDate),
  };
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}

/** `D:20260131120000+01'00'` as ISO 8601. */
function isoDate(text: string | undefined): string | undefined {
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", zone = "Z"] =
    /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?([Z+-].*)?$/.exec(text ?? "") ?? [];
  if (year === undefined) return undefined;
  const [, sign, hours, minutes = "00"] = /^([+-])(\d\d)'?(\d\d)?/.exec(zone) ?? [];
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${sign === undefined ? "Z" : `${sign}${hours}:${minutes}`}`;
}

function warningOf(markdown: string, read: number, total: number): { warning?: string } {
  if (markdown === "") return { warning: "the PDF has no text: its pages are images" };
  return read < total ? { warning: `${read} of ${total} pages were read` } : {};
}
