import { Parser } from "htmlparser2";
import { decodePieces } from "../charset/decode.ts";
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

interface ReadSitemap extends Sitemap {
  pages: SitemapEntry[];
  sitemaps: SitemapEntry[];
}

/**
 * Reads a sitemap, a sitemap index, a feed or a list of addresses, possibly packed by gzip. No entities of the document's
 * own are expanded. A longer one is read up to its bounds, and marked as cut.
 * @throws PageError `malformed` for a document that is none of them, or that cannot be read.
 */
export async function readSitemap(bytes: Uint8Array, request: SitemapRequest): Promise<ReadSitemap> {
  const { url, contentType } = request;
  const unpacked = await unpack(bytes, sitemapBytesMax);
  const isCut = request.isCut || unpacked.isCut;
  const collector = new Collector(url);
  let reader: SitemapReader | undefined;
  // A whole text of 50 MB in memory, beside its bytes, is near the bound of a child.
  for (const piece of decodePieces(unpacked.bytes, { label: charsetOf(contentType), xml: true })) {
    reader ??= readerOf(piece, collector);
    reader?.write(piece);
    if (collector.isFull) break;
  }
  if (reader?.end(isCut) !== true) throw new PageError("malformed", "the document is no sitemap");
  const { pages, sitemaps, isFull } = collector;
  return { pages, sitemaps, isCut: isCut || isFull };
}

/** Reads one form of sitemaps, piece by piece. */
interface SitemapReader {
  write(text: string): void;
  /** Returns whether the document is a sitemap. */
  end(isCut: boolean): boolean;
}

/** Undefined for white space before the document. */
function readerOf(text: string, collector: Collector): SitemapReader | undefined {
  const start = text.trimStart();
  if (start === "") return undefined;
  return start.startsWith("<") ? new XmlReader(collector) : new LineReader(collector);
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

class LineReader implements SitemapReader {
  readonly #collector: Collector;
  #line = "";

  constructor(collector: Collector) {
    this.#collector = collector;
  }

  write(text: string): void {
    const lines = (this.#line + text).split(/\r\n|\r|\n/);
    const last = lines.pop() ?? "";
    for (const line of lines) this.#add(line);
    // One that is too long stays so.
    this.#line = last.trimStart().slice(0, addressCharactersMax + 1);
  }

  end(isCut: boolean): boolean {
    // The last line of a text that is cut off may be a part of an address.
    if (!isCut) this.#add(this.#line);
    return this.#collector.pages.length > 0;
  }

  #add(line: string): void {
    if (/^\s*https?:\/\//i.test(line)) this.#collector.add("pages", line);
  }
}

class XmlReader implements SitemapReader {
  readonly #elements: XmlElements;
  readonly #parser: Parser;

  constructor(collector: Collector) {
    this.#elements = new XmlElements(collector);
    this.#parser = new Parser(this.#elements, { xmlMode: true, decodeEntities: true });
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(): boolean {
    this.#parser.end();
    return this.#elements.isSitemap;
  }
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
class XmlElements {
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

  /** An element that the end of the document or of its parent closes may be a part of a longer one. */
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
