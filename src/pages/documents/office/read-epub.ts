import { escapeUTF8 } from "entities";
import type { Page, PageRequest } from "../../page.ts";
import { PageError } from "../../page-error.ts";
import { Archive } from "./archive.ts";
import { readFacts } from "./facts.ts";
import { officePage } from "./office-page.ts";
import { resolve } from "./relations.ts";
import { type Attributes, readXml } from "./xml.ts";

/**
 * Reads a book in EPUB: its chapters in their order (EPUB 3.3, 5). Links within the book and its pictures have no address.
 * @throws PageError `too_large` for one that unpacks to too much, `malformed` for one that is broken or encrypted.
 */
export function readEpub(bytes: Uint8Array, request: PageRequest): Omit<Page, "kind"> {
  const archive = new Archive(bytes);
  const book = packageOf(archive);
  const description = archive.requiredText(book);
  const chapters = chaptersOf(description, book.slice(0, book.lastIndexOf("/") + 1));
  const html = chapters.map((chapter) => chapterHtml(archive.text(chapter) ?? ""));
  if (
    chapters.length > 0 &&
    html.every((chapter) => chapter === "") &&
    archive.text("META-INF/encryption.xml") !== undefined
  )
    throw new PageError("malformed", "the book is encrypted");
  return officePage({ html: html.join("<hr>"), metadata: readFacts(description) }, request);
}

function packageOf(archive: Archive): string {
  let found = "";
  readXml(archive.requiredText("META-INF/container.xml"), {
    open(name, { "full-path": path = "" }) {
      if (name.endsWith("rootfile") && found === "") found = path;
    },
  });
  return found;
}

/** The parts with the chapters, in the order of the spine, each once. */
function chaptersOf(description: string, folder: string): string[] {
  const parts = new Map<string, string>();
  const order: string[] = [];
  readXml(description, {
    open(name, { id = "", href = "", idref = "", "media-type": type = "", linear }) {
      const element = name.split(":").at(-1);
      if (element === "item" && /html|xml/.test(type)) parts.set(id, resolve(folder, href));
      if (element === "itemref" && linear !== "no") order.push(idref);
    },
  });
  return [...new Set(order.flatMap((id) => parts.get(id) ?? []))];
}

/** Without content that is shown, and those that hold chapters together. */
const dropped: ReadonlySet<string> = new Set(["head", "script", "style", "nav"]);
const unwrapped: ReadonlySet<string> = new Set(["html", "body", "link", "meta"]);

/** The content of a chapter, whose elements without content end as in HTML. */
function chapterHtml(xhtml: string): string {
  const html: string[] = [];
  let skipped = 0;
  readXml(xhtml, {
    open(name, attributes) {
      if (skipped > 0 || dropped.has(name)) skipped += 1;
      else if (!unwrapped.has(name)) html.push(`<${name}${keptAttributes(attributes)}>`);
    },
    close(name) {
      if (skipped > 0) skipped -= 1;
      else if (!unwrapped.has(name) && !voids.has(name)) html.push(`</${name}>`);
    },
    text(text) {
      if (skipped === 0) html.push(escapeUTF8(text));
    },
  });
  return html.join("").trim();
}

const voids: ReadonlySet<string> = new Set(["br", "hr", "img", "wbr", "col", "input", "area", "source", "track"]);

/** Addresses within the book lead nowhere outside of it. */
function keptAttributes(attributes: Attributes): string {
  const kept = Object.entries(attributes).filter(([name, value]) =>
    name === "href" || name === "src"
      ? /^https?:/i.test(value)
      : /^(?:alt|lang|start|colspan|rowspan|hidden|class)$/.test(name),
  );
  return kept.map(([name, value]) => ` ${name}="${escapeUTF8(value)}"`).join("");
}
