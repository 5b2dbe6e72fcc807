import type { Element } from "domhandler";
import { isTag } from "domhandler";

/** Attributes in which scripts find the address of an image that is loaded when it scrolls into view. */
const lazySources = [
  "data-src",
  "data-lazy-src",
  "data-original",
  "data-actualsrc",
  "data-lazy",
  "data-url",
  "data-hi-res-src",
];
const lazySets = ["data-srcset", "data-lazy-srcset"];

/** Characters of a placeholder: a transparent pixel or a blurred preview. Real images are longer. */
const placeholderCharactersMax = 400;

/** The address of an image as the page writes it: the one that a reader would see, not the placeholder of a lazy one. */
export function imageSource(image: Element): string | undefined {
  const { attribs } = image;
  const source = attribs["src"]?.trim() ?? "";
  if (source !== "" && !isPlaceholder(source)) return lazySource(image) ?? source;
  const found = lazySource(image) ?? largestOfSet(attribs["srcset"]) ?? pictureSource(image);
  return found ?? (source === "" ? undefined : source);
}

/** All addresses of an image: the one above, and those of its sets. */
export function allSources(image: Element): string[] {
  const main = imageSource(image);
  const sets = [image.attribs["srcset"], ...lazySets.map((name) => image.attribs[name])];
  return [...(main === undefined ? [] : [main]), ...sets.flatMap((set) => setAddresses(set))];
}

function lazySource({ attribs }: Element): string | undefined {
  for (const name of lazySources) {
    const value = attribs[name]?.trim();
    if (value !== undefined && looksLikeAddress(value)) return value;
  }
  for (const name of lazySets) {
    const value = largestOfSet(attribs[name]);
    if (value !== undefined) return value;
  }
  return undefined;
}

function looksLikeAddress(value: string): boolean {
  return value !== "" && !/[\s{}<>"]/.test(value) && !isPlaceholder(value) && /[./]/.test(value);
}

function isPlaceholder(source: string): boolean {
  if (/^data:image\//i.test(source))
    return source.length < placeholderCharactersMax || /^data:image\/svg/i.test(source);
  return /^(about:|#)|\/(blank|spacer|placeholder|pixel|transparent|lazy[-_]?load)[\w-]*\.(gif|png|svg)/i.test(source);
}

function pictureSource({ parent }: Element): string | undefined {
  if (parent === null || !isTag(parent) || parent.name !== "picture") return undefined;
  for (const sibling of parent.children) {
    if (!isTag(sibling) || sibling.name !== "source") continue;
    const found = largestOfSet(sibling.attribs["srcset"] ?? sibling.attribs["data-srcset"]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The candidate of a `srcset` with the largest width or density. */
function largestOfSet(set: string | undefined): string | undefined {
  let best: string | undefined;
  let bestSize = 0;
  for (const { address, size } of candidates(set)) {
    if (size <= bestSize || isPlaceholder(address)) continue;
    best = address;
    bestSize = size;
  }
  return best;
}

export function setAddresses(set: string | undefined): string[] {
  return candidates(set)
    .map(({ address }) => address)
    .filter((address) => !isPlaceholder(address));
}

/** A comma ends a candidate only after white space or a descriptor, because addresses contain commas too. */
function candidates(set: string | undefined): { address: string; size: number }[] {
  if (set === undefined || set.length > setCharactersMax) return [];
  return [...set.matchAll(/\s*([^\s,]\S*[^\s,]|[^\s,])(?:\s+([\d.]+)[wx])?\s*(?:,|$)/g)].map(
    ([, address = "", size]) => ({
      address,
      size: size === undefined ? 1 : Number(size),
    }),
  );
}

/** Characters of a `srcset`. */
const setCharactersMax = 32 * 1024;
