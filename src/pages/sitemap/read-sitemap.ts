import { gunzipSync } from "node:zlib";
import { Parser } from "htmlparser2";
import { decodeText } from "../charset/decode.ts";
import { charsetOf } from "../documents/kind.ts";
import { PageError } from "../page-error.ts";

/** Bytes that a sitemap unpacks to. The protocol allows 50 MiB. */
const sitemapBytesMax = 64 * 1024 * 1024;

/** Addresses that are taken from one sitemap. The protocol allows 50,000. */
const sitemapAddressesMax = 100_000;

/** Characters of one address. */
const addressCharactersMax = 4_096;

export interface SitemapEntry {
  /** Absolute, on the web, without fragment. */
  url: string;
  /** As the sitemap writes it. */
  lastModified?: string;
  title?: string;
}

/** The entries of a sitemap. A feed and a text with one address a line are sitemaps too. */
export interface Sitemap {
  /** Pages. */
  pages: SitemapEntry[];
  /** Further sitemaps, of an index. */
  sitemaps: SitemapEntry[];
  /** There were more addresses than are taken. */
  isCut: boolean;
}

export interface SitemapRequest {
  /** The address of the sitemap: the base of relative ones. */
  url: string;
  contentType: string | undefined;
}

/**
 * Reads a sitemap, a sitemap index, a feed or a list of addresses, possibly packed by gzip. No entities of the document's
 * own are expanded.
 * @throws PageError `too_large` for one that unpacks to too much, `malformed` for one that lists nothing that is known.
 */
export function readSitemap(bytes: Uint8Array, { url, contentType }: SitemapRequest): Sitemap {
  const { text } = decodeText(unpack(bytes), { label: charsetOf(contentType), xml: true });
  const sitemap = text.trimStart().startsWith("<") ? readXml(text, url) : readLines(text, url);
  if (sitemap === undefined) throw new PageError("malformed", "the document is no sitemap");
  return sitemap;
}

function unpack(bytes: Uint8Array): Uint8Array {
  let unpacked = bytes;
  // Servers pack files that are packed already.
  for (let layer = 0; layer < 2 && unpacked[0] === 0x1f && unpacked[1] === 0x8b; layer += 1) {
    try {
      unpacked = gunzipSync(unpacked, { maxOutputLength: sitemapBytesMax });
    } catch (error) {
      const isBomb = error instanceof RangeError;
      throw new PageError(
        isBomb ? "too_large" : "malformed",
        isBomb ? "the sitemap unpacks to too much" : "the sitemap can't be unpacked",
        { cause: error },
      );
    }
  }
  if (unpacked.length > sitemapBytesMax) throw new PageError("too_large", "the sitemap is too large");
  return unpacked;
}

/** Adds addresses until there are enough. */
class Collector {
  readonly sitemap: Sitemap = { pages: [], sitemaps: [], isCut: false };
  readonly #base: string;
  readonly #seen = new Set<string>();

  constructor(base: string) {
    this.#base = base;
  }

  add(list: "pages" | "sitemaps", address: string, facts: Omit<SitemapEntry, "url"> = {}): void {
    if (this.#seen.size >= sitemapAddressesMax) {
      this.sitemap.isCut = true;
      return;
    }
    const trimmed = address.trim();
    const url = trimmed === "" || trimmed.length > addressCharactersMax ? null : URL.parse(trimmed, this.#base);
    if (url === null || !/^https?:$/.test(url.protocol)) return;
    url.hash = "";
    if (this.#seen.has(url.href)) return;
    this.#seen.add(url.href);
    this.sitemap[list].push({ url: url.href, ...facts });
  }
}

function readLines(text: string, base: string): Sitemap | undefined {
  const collector = new Collector(base);
  let start = 0;
  while (start < text.length && !collector.sitemap.isCut) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end < 0 ? undefined : end).trim();
    if (/^https?:\/\//i.test(line)) collector.add("pages", line);
    start = end < 0 ? text.length : end + 1;
  }
  return collector.sitemap.pages.length === 0 ? undefined : collector.sitemap;
}

/** Elements that are one entry each, by the list that they belong to. */
const entryLists: Readonly<Record<string, "pages" | "sitemaps">> = {
  url: "pages",
  item: "pages",
  entry: "pages",
  sitemap: "sitemaps",
};

const roots = new Set(["urlset", "sitemapindex", "rss", "feed", "rdf"]);

/** Characters of a title or a date. */
const factCharactersMax = 500;

function readXml(text: string, base: string): Sitemap | undefined {
  const reader = new XmlSitemap(base);
  const parser = new Parser(reader, { xmlMode: true, decodeEntities: true });
  // In pieces, so that reading stops where there are enough addresses.
  for (let start = 0; start < text.length && !reader.isDone; start += pieceCharacters)
    parser.write(text.slice(start, start + pieceCharacters));
  parser.end();
  return reader.isSitemap ? reader.collector.sitemap : undefined;
}

const pieceCharacters = 64 * 1024;

/** Reads elements as they come; only the text of one entry is kept. */
class XmlSitemap {
  readonly collector: Collector;
  isSitemap = false;
  #list: "pages" | "sitemaps" | undefined;
  #levels = 0;
  #field: string | undefined;
  #text = "";
  #fields: Record<string, string> = {};

  constructor(base: string) {
    this.collector = new Collector(base);
  }

  get isDone(): boolean {
    return this.collector.sitemap.isCut;
  }

  onopentag(tag: string, attribs: Readonly<Record<string, string>>): void {
    const name = localName(tag);
    if (roots.has(name)) this.isSitemap = true;
    if (this.#list === undefined) {
      this.#list = entryLists[name];
      this.#levels = 0;
      this.#fields = {};
      return;
    }
    this.#levels += 1;
    if (this.#levels !== 1) return;
    this.#field = name;
    this.#text = "";
    const isOther = name === "link" && attribs["rel"] !== undefined && attribs["rel"] !== "alternate";
    if (name === "link" && attribs["href"] !== undefined && !isOther) this.#fields["link"] ??= attribs["href"];
  }

  ontext(data: string): void {
    if (this.#field !== undefined && this.#text.length < addressCharactersMax) this.#text += data;
  }

  onclosetag(): void {
    if (this.#list === undefined) return;
    if (this.#levels > 0) {
      if (this.#levels === 1 && this.#field !== undefined && this.#text.trim() !== "")
        this.#fields[this.#field] ??= this.#text.trim();
      if (this.#levels === 1) this.#field = undefined;
      this.#levels -= 1;
      return;
    }
    const { loc, link, lastmod, updated, pubdate, title } = this.#fields;
    const lastModified = (lastmod ?? updated ?? pubdate)?.slice(0, factCharactersMax);
    this.collector.add(this.#list, loc ?? link ?? "", {
      ...(lastModified !== undefined && { lastModified }),
      ...(title !== undefined && { title: title.slice(0, factCharactersMax) }),
    });
    this.#list = undefined;
  }
}

function localName(tag: string): string {
  return tag.slice(tag.indexOf(":") + 1).toLowerCase();
}
