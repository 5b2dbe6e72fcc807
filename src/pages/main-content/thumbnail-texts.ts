import { Document, type ChildNode, type Element, isTag, isText } from "domhandler";
import { textContent } from "domutils";
import { elementsOf } from "../html/walk.ts";

/** Fewer pictures are illustrations. */
const thumbnailsMin = 4;

/** Levels above a picture in which the text beside it is looked for, neighbours on each side, and characters of each. */
const levelsMax = 6;
const neighboursMax = 3;
const charactersMax = 500;

/**
 * Takes the texts of pictures away, in place, that repeat the text beside them, if there are many pictures: those show the items that the
 * text names. Texts in a figure stay.
 */
export function dropThumbnailTexts(nodes: ChildNode[]): void {
  const thumbnails: Element[] = [];
  for (const element of elementsOf(new Document(nodes), ({ name }) => name !== "figure"))
    if (element.name === "img" && element.attribs["alt"] !== undefined) thumbnails.push(element);
  if (thumbnails.length < thumbnailsMin) return;
  for (const thumbnail of thumbnails) if (isRepeated(thumbnail)) thumbnail.attribs = { ...thumbnail.attribs, alt: "" };
}

function isRepeated(image: Element): boolean {
  const text = fold(image.attribs["alt"] ?? "");
  return text !== "" && textBeside(image).includes(text);
}

/** The text of the nearest neighbours that have any, of the picture or of an element around it. */
function textBeside(image: Element): string {
  let at: Element = image;
  for (let level = 0; level < levelsMax; level += 1) {
    const text = `${neighbours(at, "prev")} ${neighbours(at, "next")}`.trim();
    if (text !== "") return text;
    if (at.parent === null || !isTag(at.parent)) break;
    at = at.parent;
  }
  return "";
}

function neighbours(element: Element, side: "prev" | "next"): string {
  let text = "";
  let node = element[side];
  for (let count = 0; node !== null && count < neighboursMax; node = node[side]) {
    const own = isText(node) || isTag(node) ? fold(textContent(node).slice(0, charactersMax)) : "";
    if (own === "") continue;
    text += ` ${own}`;
    count += 1;
  }
  return text;
}

function fold(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");
}
