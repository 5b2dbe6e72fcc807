import { type Document, type Element, isTag } from "domhandler";

/** The address that a page's relative links start from: its own, or that of its first `<base href>`. */
export function baseUrlOf(document: Document, url: string): string {
  const base = headOf(document)?.children.find(
    (child) => isTag(child) && child.name === "base" && child.attribs["href"] !== undefined,
  );
  const href = base !== undefined && isTag(base) ? base.attribs["href"] : undefined;
  if (href === undefined) return url;
  const resolved = parseUrl(href, url);
  return resolved !== undefined && isWeb(resolved) ? resolved.href : url;
}

function headOf(document: Document): Element | undefined {
  const html = document.children.filter(isTag).find(({ name }) => name === "html");
  return html?.children.filter(isTag).find(({ name }) => name === "head");
}

/** Resolves addresses of one page; repeated ones cost nothing. */
export class AddressResolver {
  readonly #base: string;
  readonly #known = new Map<string, URL | undefined>();

  constructor(base: string) {
    this.#base = base;
  }

  /** The absolute address, or undefined if it is none or of a scheme that a reader can't follow (scripts, for example). */
  absolute(address: string): string | undefined {
    const url = this.#resolve(address);
    return url !== undefined && followed.has(url.protocol) ? url.href : undefined;
  }

  /** The absolute address of a document on the web, without its fragment. */
  web(address: string): string | undefined {
    const url = this.#resolve(address);
    if (url === undefined || !isWeb(url)) return undefined;
    return url.hash === "" && !url.href.endsWith("#") ? url.href : url.href.slice(0, url.href.indexOf("#"));
  }

  /** The absolute address of an image, which may be contained in the address (`data:`). */
  image(address: string): string | undefined {
    if (/^\s*data:image\//i.test(address)) return address.trim();
    return this.web(address);
  }

  #resolve(address: string): URL | undefined {
    if (address.length > addressCharactersMax) return undefined;
    if (this.#known.has(address)) return this.#known.get(address);
    const url = parseUrl(address, this.#base);
    if (this.#known.size < knownAddressesMax) this.#known.set(address, url);
    return url;
  }
}

/** Schemes of links that stay in the content. */
const followed = new Set(["http:", "https:", "mailto:", "tel:", "ftp:", "sms:", "magnet:"]);

/** Characters of an address; longer ones carry data, not a place. */
const addressCharactersMax = 8_192;

/** Resolved addresses that are remembered. */
const knownAddressesMax = 10_000;

function parseUrl(address: string, base: string): URL | undefined {
  return URL.parse(address.trim(), base) ?? undefined;
}

function isWeb(url: URL): boolean {
  return url.protocol === "http:" || url.protocol === "https:";
}
