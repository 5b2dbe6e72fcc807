import type { ParentNode } from "domhandler";
import type { AddressResolver } from "./base-url.ts";
import { imageSource } from "./image-source.ts";
import { elementsOf } from "./walk.ts";

/** Stands for an image that is part of the document; Firecrawl's text, which its users look for. */
const removedImage = "<Base64-Image-Removed>";

/** Attributes that hold one address each. */
const addressAttributes = new Set(["href", "src", "poster", "cite", "action", "data", "longdesc"]);

export interface AbsoluteOptions {
  addresses: AddressResolver;
  removeBase64Images: boolean;
}

/**
 * Makes the addresses in a tree absolute, in place, and takes away the parts for browsers only: handlers of events, styles,
 * sets of image sizes (the best one becomes the source). An address that can't be followed is removed.
 */
export function makeAbsolute(root: ParentNode, options: AbsoluteOptions): void {
  for (const element of elementsOf(root)) {
    const { name, attribs } = element;
    if (name === "img") setImage(attribs, imageSource(element), options);
    for (const attribute of Object.keys(attribs)) {
      if (isForBrowsers(attribute)) delete attribs[attribute];
      else if (addressAttributes.has(attribute) && name !== "img") replace(attribs, attribute, options);
    }
  }
}

type Attributes = Record<string, string>;

function replace(attribs: Attributes, attribute: string, { addresses }: AbsoluteOptions): void {
  const absolute = addresses.absolute(attribs[attribute] ?? "");
  if (absolute === undefined) delete attribs[attribute];
  else attribs[attribute] = absolute;
}

function setImage(
  attribs: Attributes,
  source: string | undefined,
  { addresses, removeBase64Images }: AbsoluteOptions,
): void {
  const absolute = source === undefined ? undefined : addresses.image(source);
  delete attribs["src"];
  delete attribs["sizes"];
  delete attribs["loading"];
  if (absolute === undefined) return;
  attribs["src"] = removeBase64Images && absolute.startsWith("data:") ? removedImage : absolute;
}

function isForBrowsers(attribute: string): boolean {
  return /^(on[a-z]|style$|srcset$|data-(lazy|src|original|tollgate-(hidden|frame))|nonce$|integrity$|crossorigin$)/.test(
    attribute,
  );
}
