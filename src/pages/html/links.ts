import type { Document } from "domhandler";
import type { AddressResolver } from "./base-url.ts";
import { elementsOf } from "./walk.ts";

/** Links and images of one page that are returned; beyond it, a page is a dump and a sitemap its better source. */
export const addressesMax = 100_000;

/** The addresses on the web that a page links to, in its order, each once, without fragments. */
export function linksOf(document: Document, addresses: AddressResolver): string[] {
  const links = new Set<string>();
  for (const { name, attribs } of elementsOf(document)) {
    if (links.size >= addressesMax) break;
    const href = name === "a" || name === "area" ? attribs["href"] : undefined;
    if (href === undefined || href.trim() === "" || href.startsWith("#")) continue;
    const link = addresses.web(href);
    if (link !== undefined) links.add(link);
  }
  return [...links];
}
