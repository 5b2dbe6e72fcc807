import { type Document, type Element, isText } from "domhandler";
import type { AddressResolver } from "./base-url.ts";
import { allSources, setAddresses } from "./image-source.ts";
import { addressesMax } from "./links.ts";
import { elementsOf } from "./walk.ts";

/** The addresses of a page's images, absolute, in its order, each once; first the one that it presents itself with. */
export function imagesOf(document: Document, addresses: AddressResolver): string[] {
  const images = new Set<string>();
  for (const element of elementsOf(document)) {
    for (const source of sourcesOf(element)) {
      if (images.size >= addressesMax) return [...images];
      const image = addresses.web(source);
      if (image !== undefined) images.add(image);
    }
  }
  return [...images];
}

function sourcesOf(element: Element): string[] {
  const { name, attribs } = element;
  if (name === "img") return allSources(element);
  if (name === "source" && attribs["srcset"] !== undefined) return setAddresses(attribs["srcset"]);
  if (name === "video") return attribs["poster"] === undefined ? [] : [attribs["poster"]];
  if (
    name === "meta" &&
    /^(og:image(:url|:secure_url)?|twitter:image(:src)?)$/.test(attribs["property"] ?? attribs["name"] ?? "")
  ) {
    return attribs["content"] === undefined ? [] : [attribs["content"]];
  }
  if (name === "noscript") return noscriptSources(element);
  if (name === "image") return [attribs["href"] ?? attribs["xlink:href"] ?? ""].filter((address) => address !== "");
  const background = /background(?:-image)?:[^;]*url\(\s*['"]?([^'")]+)/i.exec(attribs["style"] ?? "")?.[1];
  return background === undefined ? [] : [background];
}

/** The content of `noscript` is text to the parser. */
function noscriptSources(element: Element): string[] {
  const text = element.children.find(isText)?.data ?? "";
  return [...text.matchAll(/<img\b[^>]*?\ssrc\s*=\s*["']?([^"'\s>]+)/gi)].map(([, source = ""]) =>
    source.replaceAll("&amp;", "&"),
  );
}
