import type { Page, PageRequest } from "../../page.ts";
import { Archive } from "./archive.ts";
import { readFacts } from "./facts.ts";
import { officePage } from "./office-page.ts";
import { relationsOf } from "./relations.ts";
import { SlideWriter } from "./slide-writer.ts";
import { cutWarning, TableRoom } from "./table.ts";
import { readXml } from "./xml.ts";

const PRESENTATION = "ppt/presentation.xml";

/**
 * Reads a presentation of Microsoft PowerPoint: the titles of its slides are headings, the speaker's notes are quotations below them.
 * Hidden slides are left out.
 * @throws PageError `too_large` for one that unpacks to too much, `malformed` for one that is broken.
 */
export function readPptx(bytes: Uint8Array, request: PageRequest): Omit<Page, "kind"> {
  const archive = new Archive(bytes);
  const room = new TableRoom();
  const html = [...slidesOf(archive)].map((slide) => readSlide(archive, slide, room)).filter((slide) => slide !== "");
  const metadata = readFacts(archive.text("docProps/core.xml"));
  return officePage({ html: html.join("<hr>"), metadata, ...cutWarning(room) }, request);
}

/** The parts of the slides, in their order, each once. */
function slidesOf(archive: Archive): Set<string> {
  const relations = relationsOf(archive, PRESENTATION);
  const slides = new Set<string>();
  readXml(archive.requiredText(PRESENTATION), {
    open(name, { "r:id": id = "" }) {
      const target = name === "p:sldId" ? relations.get(id)?.target : undefined;
      if (target !== undefined) slides.add(target);
    },
  });
  return slides;
}

function readSlide(archive: Archive, part: string, room: TableRoom): string {
  const relations = relationsOf(archive, part);
  const writer = new SlideWriter(room, relations, "h2");
  readXml(archive.text(part) ?? "", writer);
  if (writer.isHidden) return "";
  const notes = [...relations.values()].find(({ type }) => type === "notesSlide")?.target;
  const spoken = new SlideWriter(room, new Map(), "p");
  if (notes !== undefined) readXml(archive.text(notes) ?? "", spoken);
  return `${writer.html}${spoken.html === "" ? "" : `<blockquote>${spoken.html}</blockquote>`}`;
}
