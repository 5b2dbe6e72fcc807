import { type ChildNode, Document, type Element, isTag, type ParentNode, Text } from "domhandler";
import { render } from "dom-serializer";
import { mainContent } from "../main-content/index.ts";
import { writeMarkdown } from "../markdown/write-markdown.ts";
import { frameMark, hiddenMark, type Page, type PageMetadata, type PageRequest } from "../page.ts";
import { makeAbsolute } from "./absolute.ts";
import { adopt } from "./adopt.ts";
import { AddressResolver, baseUrlOf } from "./base-url.ts";
import { clean } from "./clean.ts";
import { openFrames } from "./frames.ts";
import { dropHidden } from "./hidden/index.ts";
import { imagesOf } from "./images.ts";
import { linksOf } from "./links.ts";
import { metadataOf } from "./metadata.ts";
import { needsBrowser } from "./needs-browser.ts";
import { doubtOf, hasCheckMark } from "./page-doubt.ts";
import { parseHtml } from "./parse.ts";
import { Selectors } from "./select.ts";

/** Characters of a page that is read in small steps of memory. It costs a twentieth of the time. */
const largeCharactersMin = 1024 * 1024;

/** The browser's marks, which are no part of the page. */
const marks = new RegExp(` (?:${hiddenMark}|${frameMark})="[^"]*"`, "g");

/** The parts of a page besides its kind. */
export type HtmlPage = Omit<Page, "kind">;

/**
 * Reads a page of HTML. Links and images are those of the whole page, or of the part that the request's selectors leave,
 * whatever its main content is: they are asked for to go on from there.
 * @throws PageError `selector`, `slow_selectors` or `too_large`.
 */
export function readHtml(text: string, request: PageRequest): HtmlPage {
  const { wants } = request;
  const selectors = new Selectors(request);
  const { included, excluded } = selectors;
  const document = parseHtml(text);
  const base = baseUrlOf(document, request.url);
  const addresses = new AddressResolver(base);
  const page: HtmlPage = { metadata: metadataOf(document, addresses), needsBrowser: needsBrowser(document) };
  if (wants.rawHtml === true) page.rawHtml = text.replaceAll(marks, "");
  if (wants.attributes !== undefined) page.attributes = selectors.attributes(document, wants.attributes);
  if (excluded !== undefined) selectors.remove(document, excluded);
  const found = included && selectors.outermost(document, included);
  const selected = found === undefined ? document : new Document(found);
  if (wants.links === true) page.links = linksOf(selected, addresses);
  if (wants.images === true) page.images = imagesOf(selected, addresses);
  if (wants.html !== true && wants.markdown !== true) return page;
  const isMarked = hasCheckMark(document);
  const hidden = dropHidden(document);
  const known = new Map(Object.entries(request.frames ?? {}));
  const frames = openFrames(document, { addresses, pageUrl: request.url, known });
  if (frames.length > 0 && request.frames === undefined) page.frames = frames;
  const seen = found?.filter((element) => !isWithin(element, hidden));
  const content = seen === undefined ? contentOf(document, base, page.metadata, request) : documentOf(apart(seen));
  // The facts that main content was found by are as large as the tree, and the Markdown needs their room.
  if (text.length >= largeCharactersMin) Bun.gc(true);
  clean(content);
  makeAbsolute(content, { addresses, removeBase64Images: request.removeBase64Images });
  if (wants.html === true) page.html = render(content, { encodeEntities: "utf8" });
  if (wants.markdown === true) {
    page.markdown = writeMarkdown(content, withoutFragment(base));
    const doubt = doubtOf(page.markdown, { title: page.metadata.title ?? "", isMarked });
    if (doubt !== undefined) page.doubt = doubt;
  }
  return page;
}

function contentOf(document: Document, url: string, metadata: PageMetadata, request: PageRequest): Document {
  if (!request.onlyMainContent) return document;
  const { title = "", ogTitle = "" } = metadata;
  return documentOf(mainContent(document, { url, titles: [title, ogTitle] }).nodes);
}

function isWithin(element: Element, elements: ReadonlySet<Element>): boolean {
  for (let at: ParentNode | null = element; at !== null && isTag(at); at = at.parent) if (elements.has(at)) return true;
  return false;
}

/** Parts of a page that were chosen one by one: the words of one do not go on in the next. */
function apart(nodes: readonly ChildNode[]): ChildNode[] {
  return nodes.flatMap((node, index) => (index === 0 ? [node] : [new Text("\n"), node]));
}

function documentOf(nodes: ChildNode[]): Document {
  const document = new Document([]);
  adopt(document, nodes);
  return document;
}

function withoutFragment(url: string): string {
  const at = url.indexOf("#");
  return at < 0 ? url : url.slice(0, at);
}
