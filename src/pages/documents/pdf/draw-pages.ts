/** Pages of a PDF as pictures, drawn by PDFium in WebAssembly: for a model that reads those without text. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type PDFiumDocument, PDFiumLibrary } from "@hyzyla/pdfium";
import { encode } from "fast-png";
import { PageError } from "../../page-error.ts";

/** The longer side of a picture in pixels: models make larger ones smaller themselves. */
const SIDE_MAX = 1_600;

/** How much a page is enlarged at most: 288 pixels an inch. */
const SCALE_MAX = 4;

/** Samples from this grey on are paper. */
const PAPER_MIN = 240;

// A child process may not be able to read it later.
const program = new Uint8Array(readFileSync(fileURLToPath(import.meta.resolve("@hyzyla/pdfium/pdfium.wasm"))));

let library: Promise<Awaited<ReturnType<typeof PDFiumLibrary.init>>> | undefined;

/**
 * Draws pages, counted from 1, as PNGs in shades of grey. A page that is empty or can't be drawn is of no bytes.
 * @throws PageError `malformed` for a file that can't be opened.
 */
export async function drawPages(bytes: Uint8Array, numbers: readonly number[]): Promise<Uint8Array[]> {
  library ??= PDFiumLibrary.init({ wasmBinary: program.buffer });
  const document = await opened(await library, bytes);
  try {
    const pictures: Uint8Array[] = [];
    for (const number of numbers) pictures.push(await drawPage(document, number));
    return pictures;
  } finally {
    document.destroy();
  }
}

async function opened(pdfium: Awaited<typeof library & object>, bytes: Uint8Array): Promise<PDFiumDocument> {
  try {
    return await pdfium.loadDocument(bytes);
  } catch (error) {
    throw new PageError("malformed", "the PDF can't be drawn", { cause: error });
  }
}

async function drawPage(document: PDFiumDocument, number: number): Promise<Uint8Array> {
  try {
    const page = document.getPage(number - 1);
    const { originalWidth, originalHeight } = page.getOriginalSize();
    const scale = Math.min(SCALE_MAX, SIDE_MAX / Math.max(originalWidth, originalHeight));
    const { width, height, data } = await page.render({ scale, colorSpace: "Gray", render: "bitmap" });
    if (!data.some((sample) => sample < PAPER_MIN)) return new Uint8Array();
    return encode({ width, height, data, channels: 1, depth: 8 });
  } catch {
    return new Uint8Array();
  }
}
