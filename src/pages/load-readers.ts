import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { PageError } from "./page-error.ts";
import type { PageRequest } from "./page.ts";
import { takeApart } from "./take-apart.ts";

const request: PageRequest = {
  url: "http://localhost/",
  contentType: "text/html",
  wants: { markdown: true },
  onlyMainContent: true,
  includeTags: [],
  excludeTags: [],
  removeBase64Images: false,
  pdf: { parse: true, pagesMax: 1 },
};

const documents = {
  "text/html": "<title>x</title><main><p>A paragraph.</p></main>",
  "application/pdf":
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>",
};

/** Packages of readers that are loaded later. */
const packages = ["@hyzyla/pdfium", "fast-png", "diff", "hucre", "mammoth", "re2js", "rtf-stream-parser", "unpdf"];

/** Whether all users of the machine can read the files that documents need later. */
export function othersCanRead(): boolean {
  const files = packages.map((name) => fileURLToPath(import.meta.resolve(name)));
  return [import.meta.filename, ...files].every((file) => isForOthers(realpathSync(file)));
}

function isForOthers(file: string): boolean {
  if ((statSync(file).mode & 0o004) === 0) return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** Loads the files that are otherwise read when a document needs them first: for a process that will not be able to. It takes half a second of a processor. */
export async function loadReaders(): Promise<void> {
  await Promise.all([
    import("./changes/compare-texts.ts"),
    import("./documents/office/read-docx.ts"),
    import("./documents/office/read-epub.ts"),
    import("./documents/office/read-open-document.ts"),
    import("./documents/office/read-pptx.ts"),
    import("./documents/office/read-rtf.ts"),
    import("./documents/office/read-xlsx.ts"),
    import("./documents/pdf/draw-pages.ts"),
    import("./pool/match-patterns.ts"),
  ]);
  for (const [contentType, text] of Object.entries(documents)) {
    try {
      await takeApart(new TextEncoder().encode(text), { ...request, contentType });
    } catch (thrown) {
      if (!(thrown instanceof PageError)) throw thrown;
    }
  }
}
