import { Document, type ChildNode, type Element } from "domhandler";
import { elementsOf } from "../html/walk.ts";

/** Fewer pictures are illustrations. */
const thumbnailsMin = 4;

/**
 * Takes the texts of pictures away, in place, if there are many: they repeat the names of the items that they show. Those
 * in a figure stay.
 */
export function dropThumbnailTexts(nodes: ChildNode[]): void {
  const thumbnails: Element[] = [];
  for (const element of elementsOf(new Document(nodes), ({ name }) => name !== "figure"))
    if (element.name === "img" && element.attribs["alt"] !== undefined) thumbnails.push(element);
  if (thumbnails.length < thumbnailsMin) return;
  for (const thumbnail of thumbnails) thumbnail.attribs = { ...thumbnail.attribs, alt: "" };
}
