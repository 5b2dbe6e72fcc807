import { Parser } from "htmlparser2";
import { decodeText } from "../charset/decode.ts";
import { charsetOf } from "../documents/kind.ts";
import { PageError } from "../page-error.ts";
import {
  type Sitemap,
  type SitemapEntry,
  type SitemapRequest,
  sitemapAddressesMax,
  sitemapBytesMax,
  sitemapCharactersMax,
} from "./sitemap.ts";
import { unpack } from "./unpack.ts";

/** Characters of one address. */
const addressCharactersMax = 4_096;

/** Characters of a title. */
const titleCharactersMax = 500;

/** Elements in one another: those of a feed may be HTML. The parser's time grows with their square. */
const depthMax = 1_000;

/** Characters that are read before it is checked whether there are enough addresses. */
const pieceCharacters = 64 * 1024;

interface ReadSitemap extends Sitemap {
  pages: SitemapEntry[];
  sitemaps: SitemapEntry[];
}

/**
 * Reads a sitemap, a sitemap index, a feed or a list of addresses, possibly packed by gzip. No entities of the document's
 * own are expanded. What is too long is read up to its bounds, and says so.
 * @throws PageError `malformed` for a document that is none of them, or that cannot be read.
 */
export async function readSitemap(bytes: Uint8Array, request: SitemapRequest): Promise<ReadSitemap> {
  const { url, contentType } = request;
  const unpacked = await unpack(bytes, sitemapBytesMax);
  const isCut = request.isCut || unpacked.isCut;
  const { text } = decodeText(unpacked.bytes, { label: charsetOf(contentType), xml: true });
  const collector = new Collector(url);
  const isSitemap = text.trimStart().startsWith("<") ? readXml(text, collector) : readLines(text, isCut, collector);
  if (!isSitemap) throw new PageError("malformed", "the document is no sitemap");
  const { pages, sitemaps, isFull } = collector;
  return { pages, sitemaps, isCut: isCut || isFull };
}

type List = "pages" | "sitemaps";

/** Collects addresses, each once, until there are enough. */
class Collector {
  readonly pages: SitemapEntry[] = [];
  readonly sitemaps: SitemapEntry[] = [];
  /** There was one more than is taken. */
  isFull = false;
  readonly #base: string;
  readonly #seen = new Set<string>();
  #characters = 0;

  constructor(base: string) {
    this.#base = base;
  }

  add(list: List, address: string, title?: string): void {
    const trimmed = address.trim();
    const url = trimmed === "" || trimmed.length > addressCharactersMax ? null : URL.parse(trimmed, this.#base);
    if (url === null || !/^https?:$/.test(url.protocol)) return;
    url.hash = "";
    if (this.#seen.has(url.href) || this.isFull) return;
    const characters = this.#characters + url.href.length + (title?.length ?? 0);
    if (this.#seen.size >= sitemapAddressesMax || characters > sitemapCharactersMax) {
      this.isFull = true;
      return;
    }
    this.#characters = characters;
    this.#seen.add(url.href);
    this[list].push({ url: url.href, ...(title !== undefined && { title }) });
  }
}

/** Returns whether there is an address in the text. The last line of one that is cut off may be a part of an address. */
function readLines(text: string, isCut: boolean, collector: Collector): boolean {
  const lineEnd = /\r\n|\r|\n/g;
  for (let start = 0; start < text.length && !collector.isFull; start = lineEnd.lastIndex) {
    const end = lineEnd.exec(text)?.index;
    if (end === undefined && isCut) break;
    const line = text.slice(start, end).trim();
    if (/^https?:\/\//i.test(line)) collector.add("pages", line);
    if (end === undefined) break;
  }
  return collector.pages.length > 0;
}

/** Returns whether the document is a sitemap. */
function readXml(text: string, collector: Collector): boolean {
  const reader = new XmlSitemap(collector);
  const parser = new Parser(reader, { xmlMode: true, decodeEntities: true });
  for (let start = 0; start < text.length && !collector.isFull; start += pieceCharacters)
    parser.write(text.slice(start, start + pieceCharacters));
  parser.end();
  return reader.isSitemap;
}

/** Elements that are one entry each, by the list that they belong to. */
const entryLists: Readonly<Record<string, List>> = {
  url: "pages",
  item: "pages",
  entry: "pages",
  sitemap: "sitemaps",
};

/** Elements that contain the entries, by the list that a `<loc>` directly in them belongs to. */
const rootLists: Readonly<Record<string, List>> = {
  urlset: "pages",
  sitemapindex: "sitemaps",
  rss: "pages",
  feed: "pages",
  rdf: "pages",
};

/** Reads elements as they come; only the text of one entry is kept. */
class XmlSitemap {
  isSitemap = false;
  readonly #collector: Collector;
  #root: { list: List; depth: number } | undefined;
  /** Elements that are open, and those of them that are within the entry. */
  #depth = 0;
  #levels = 0;
  /** Of the entry; undefined outside of one. */
  #list: List | undefined;
  /** The entry is a `<loc>` alone. */
  #isBare = false;
  #field: string | undefined;
  #text = "";
  #fields: Record<string, string> = {};

  constructor(collector: Collector) {
    this.#collector = collector;
  }

  onopentag(tag: string, attribs: Readonly<Record<string, string>>): void {
    const name = localName(tag);
    this.#depth += 1;
    if (this.#depth > depthMax) throw new PageError("malformed", "the sitemap has too many elements in one another");
    const list = rootLists[name];
    if (list !== undefined) {
      this.isSitemap = true;
      this.#root ??= { list, depth: this.#depth };
    }
    if (this.#list === undefined) {
      this.#beginEntry(name);
      return;
    }
    this.#levels += 1;
    if (this.#levels !== 1) return;
    this.#beginField(name);
    const isOther = name === "link" && attribs["rel"] !== undefined && attribs["rel"] !== "alternate";
    if (name === "link" && attribs["href"] !== undefined && !isOther) this.#fields["link"] ??= attribs["href"];
  }

  #beginEntry(name: string): void {
    this.#isBare = name === "loc" && this.#depth - 1 === this.#root?.depth;
    this.#list = this.#isBare ? this.#root?.list : entryLists[name];
    this.#levels = this.#isBare ? 1 : 0;
    this.#fields = {};
    if (this.#isBare) this.#beginField(name);
  }

  #beginField(name: string): void {
    this.#field = name;
    this.#text = "";
  }

  ontext(data: string): void {
    if (this.#field !== undefined && this.#text.length <= addressCharactersMax) this.#text += data;
  }

  /** An element that the end of the document or of its parent closes may be a part of what it was. */
  onclosetag(_tag: string, isImplied: boolean): void {
    this.#depth -= 1;
    if (this.#list === undefined) return;
    if (this.#levels > 0) {
      if (this.#levels === 1) this.#endField(isImplied);
      this.#levels -= 1;
      if (this.#levels > 0 || !this.#isBare) return;
    }
    const { loc, link, title } = this.#fields;
    this.#collector.add(this.#list, loc ?? link ?? "", title?.slice(0, titleCharactersMax));
    this.#list = undefined;
  }

  #endField(isImplied: boolean): void {
    const text = this.#text.trim();
    const isWhole = !isImplied && this.#text.length <= addressCharactersMax;
    if (this.#field !== undefined && isWhole && text !== "") this.#fields[this.#field] ??= text;
    this.#field = undefined;
  }
}

function localName(tag: string): string {
  return tag.slice(tag.indexOf(":") + 1).toLowerCase();
}
