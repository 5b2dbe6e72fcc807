import { escapeUTF8 } from "entities";
import { type Document, type Element, isTag } from "domhandler";
import { textContent } from "domutils";
import { render } from "dom-serializer";
import { parseDocument } from "htmlparser2";
import { readHtml } from "../html/read-html.ts";
import type { Page, PageRequest } from "../page.ts";

/** Entries of a feed that are read. */
const entriesMax = 1_000;

/** Reads RSS, Atom or RDF: a heading for each entry, its date, and its text. */
export function readFeed(text: string, request: PageRequest): Omit<Page, "kind"> {
  const feed = parseDocument(text, { xmlMode: true });
  const entries = namedBelow(feed, new Set(["item", "entry"]), entriesMax);
  const channel = namedBelow(feed, new Set(["channel", "feed"]), 1)[0];
  const head = channel === undefined ? "" : headOf(channel);
  const html = `<html>${head}<body>${channel === undefined ? "" : introductionOf(channel)}${entries.map(writeEntry).join("")}</body></html>`;
  const page = readHtml(html, { ...request, onlyMainContent: false });
  return { ...page, needsBrowser: false, ...(request.wants.rawHtml === true && { rawHtml: text }) };
}

function namedBelow(root: Document, names: ReadonlySet<string>, countMax: number): Element[] {
  const found: Element[] = [];
  const waiting = root.children.filter(isTag).toReversed();
  for (let element = waiting.pop(); element !== undefined && found.length < countMax; element = waiting.pop()) {
    if (names.has(element.name)) found.push(element);
    else waiting.push(...element.children.filter(isTag).toReversed());
  }
  return found;
}

function headOf(channel: Element): string {
  const title = childText(channel, ["title"]);
  const description = childText(channel, ["description", "subtitle"]);
  return `<head><title>${escapeUTF8(title)}</title><meta name="description" content="${escapeUTF8(description)}"></head>`;
}

function introductionOf(channel: Element): string {
  const description = childText(channel, ["description", "subtitle"]);
  return `<h1>${escapeUTF8(childText(channel, ["title"]))}</h1><p>${escapeUTF8(description)}</p>`;
}

function writeEntry(entry: Element): string {
  const title = escapeUTF8(childText(entry, ["title"]));
  const link = linkOf(entry);
  const date = childText(entry, ["pubDate", "published", "updated", "dc:date"]);
  const author = childText(entry, ["dc:creator", "author"], (child) => childText(child, ["name"]) || textOf(child));
  const facts = [date, author].filter((fact) => fact !== "").join(" · ");
  const heading = link === "" ? title : `<a href="${escapeUTF8(link)}">${title === "" ? escapeUTF8(link) : title}</a>`;
  return `<h2>${heading}</h2><p>${escapeUTF8(facts)}</p><div>${childText(entry, ["content:encoded", "content", "description", "summary"], htmlOf)}</div>`;
}

function linkOf(entry: Element): string {
  const links = entry.children.filter(isTag).filter(({ name }) => name === "link");
  const best = links.find(({ attribs }) => attribs["rel"] === undefined || attribs["rel"] === "alternate") ?? links[0];
  return best === undefined ? "" : (best.attribs["href"] ?? textContent(best).trim());
}

/** The text of the first child that has one of the names, in their order, and a text. */
function childText(parent: Element, names: readonly string[], read: (child: Element) => string = textOf): string {
  const children = parent.children.filter(isTag);
  for (const name of names) {
    const child = children.find((candidate) => candidate.name === name);
    const text = child === undefined ? "" : read(child);
    if (text !== "") return text;
  }
  return "";
}

function textOf(element: Element): string {
  return textContent(element).trim();
}

/** The content of an entry: HTML as a text, or as elements in Atom's type `xhtml`. */
function htmlOf(element: Element): string {
  return element.attribs["type"] === "xhtml" ? render(element.children, { xmlMode: false }) : textOf(element);
}
