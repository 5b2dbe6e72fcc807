import { type Element, isTag, type ParentNode } from "domhandler";
import { textContent } from "domutils";
import { elementsOf } from "../html/walk.ts";

/** Elements that can be the text of a note. */
const noteNames = new Set(["li", "div", "p", "td", "dd", "dt", "aside", "span", "section"]);

/** Characters in the text of a reference: a number, a letter, a symbol, possibly in brackets. */
const referenceCharactersMax = 8;

/** The footnotes of a page: links to a place on the page that links back. */
export interface Footnotes {
  /** The label of the note that a link refers to. */
  labelOf(link: Element): string | undefined;
  /** The label of the note whose text an element is. */
  noteOf(element: Element): string | undefined;
  /** Whether a link leads from a note back to its reference. */
  isBacklink(link: Element): boolean;
}

/** @param pageUrl the address of the page without fragment: links to it, with a fragment, lead to a place on the page. */
export function findFootnotes(root: ParentNode, pageUrl: string): Footnotes {
  const { places, links } = collect(root, pageUrl);
  const labels = new Map<Element, string>();
  const taken = new Set<string>();
  const backs = new Map<Element, ReadonlySet<string>>();
  const references = new Map<Element, Element>();
  for (const { link, target } of links) {
    const note = places.get(target);
    if (note === undefined || !isReference(link) || !noteNames.has(note.name)) continue;
    const back = backs.get(note) ?? targetsOf(note, pageUrl);
    backs.set(note, back);
    // A link within its own note leads on, not back.
    if (back.has(target) || !(isInNotes(note) || placesAround(link).some((place) => back.has(place)))) continue;
    if (!labels.has(note)) {
      const label = freeLabel(textOf(link), taken);
      taken.add(label);
      labels.set(note, label);
    }
    references.set(link, note);
    if (references.size >= referencesMax) break;
  }
  const backTargets = new Set([...references.keys()].flatMap((link) => placesAround(link)));
  return {
    labelOf: (link) => labels.get(references.get(link) ?? link),
    noteOf: (element) => labels.get(element),
    isBacklink: (link) => {
      const target = fragmentOf(link, pageUrl);
      return target !== undefined && backTargets.has(target) && !references.has(link);
    },
  };
}

interface Found {
  places: Map<string, Element>;
  links: { link: Element; target: string }[];
}

function collect(root: ParentNode, pageUrl: string): Found {
  const found: Found = { places: new Map(), links: [] };
  for (const element of elementsOf(root)) {
    const id = element.attribs["id"] ?? (element.name === "a" ? element.attribs["name"] : undefined);
    if (id !== undefined && !found.places.has(id)) found.places.set(id, placeOf(element));
    const target = element.name === "a" ? fragmentOf(element, pageUrl) : undefined;
    if (target !== undefined) found.links.push({ link: element, target });
  }
  return found;
}

/** An empty anchor stands for the element that it begins. */
function placeOf(element: Element): Element {
  const { parent } = element;
  const isAnchor = element.name === "a" || (element.name === "span" && element.children.length === 0);
  return isAnchor && parent !== null && isTag(parent) ? parent : element;
}

function fragmentOf({ attribs }: Element, pageUrl: string): string | undefined {
  const href = attribs["href"];
  if (href === undefined) return undefined;
  if (href.startsWith("#")) return href.slice(1);
  return href.startsWith(`${pageUrl}#`) ? decode(href.slice(pageUrl.length + 1)) : undefined;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function isReference(link: Element): boolean {
  const text = textOf(link);
  if (text === "" || text.length > referenceCharactersMax) return false;
  return isRaised(link) || /^(\d{1,4}|[a-z]|[*†‡§¶]+)$/i.test(text);
}

function isRaised({ attribs, parent, children }: Element): boolean {
  if (/noteref/i.test(`${attribs["role"] ?? ""} ${attribs["epub:type"] ?? ""} ${attribs["class"] ?? ""}`)) return true;
  if (children.some((child) => isTag(child) && child.name === "sup")) return true;
  return parent !== null && isTag(parent) && parent.name === "sup";
}

function textOf(link: Element): string {
  return textContent(link).replaceAll(/[[\]()\s]/g, "");
}

/** The ids by which a note can link back to its reference: of the link, its content, and two parents. */
function placesAround(link: Element): string[] {
  const inner = link.children.filter(isTag);
  const outer: Element[] = [];
  for (let { parent } = link; parent !== null && isTag(parent) && outer.length < 2; { parent } = parent)
    outer.push(parent);
  return [link, ...inner, ...outer]
    .flatMap(({ name, attribs }) => [attribs["id"], name === "a" ? attribs["name"] : undefined])
    .filter((id) => id !== undefined);
}

/** Elements in a note that are looked at, and references of one page. */
const noteElementsMax = 300;
const referencesMax = 5_000;

/** The places that the links of a note lead to. */
function targetsOf(note: Element, pageUrl: string): ReadonlySet<string> {
  const targets = new Set<string>();
  let left = noteElementsMax;
  for (const element of elementsOf(note)) {
    left -= 1;
    if (left === 0) break;
    const target = element.name === "a" ? fragmentOf(element, pageUrl) : undefined;
    if (target !== undefined) targets.add(target);
  }
  return targets;
}

/** A list of notes that calls itself so needs no links back. */
function isInNotes(note: Element): boolean {
  let element: Element | null = note;
  for (let level = 0; level < 4 && element !== null; level += 1) {
    const { class: classes = "", role = "", id = "" } = element.attribs;
    if (
      /(^|[\s_-])(footnotes?|endnotes?|references|reflist|doc-endnotes?|doc-footnote)(\s|$)/i.test(
        `${classes} ${role} ${id}`,
      )
    )
      return true;
    const up: ParentNode | null = element.parent;
    element = up !== null && isTag(up) ? up : null;
  }
  return false;
}

function freeLabel(text: string, taken: ReadonlySet<string>): string {
  if (/^[\w-]+$/.test(text) && !taken.has(text)) return text;
  let number = taken.size + 1;
  while (taken.has(String(number))) number += 1;
  return String(number);
}
