import { type Document, type Element, isText } from "domhandler";
import { textContent } from "domutils";
import type { PageMetadata } from "../page.ts";
import type { AddressResolver } from "./base-url.ts";
import { isLinkedData, linkedFacts } from "./json-ld.ts";
import { elementsOf } from "./walk.ts";

/** Names of meta tags → the member that holds their value; other tags keep their own name. The first tag that is present wins. */
const members: Readonly<Record<string, readonly string[]>> = {
  description: ["description", "og:description", "twitter:description", "dc.description"],
  keywords: ["keywords", "news_keywords"],
  author: ["author", "article:author", "dc.creator", "parsely-author", "sailthru.author", "twitter:creator", "byl"],
  publishedTime: [
    "article:published_time",
    "og:published_time",
    "datepublished",
    "date",
    "dc.date.issued",
    "dc.date",
    "pubdate",
    "parsely-pub-date",
    "sailthru.date",
    "citation_publication_date",
  ],
  modifiedTime: ["article:modified_time", "og:updated_time", "last-modified", "datemodified", "dc.date.modified"],
  robots: ["robots"],
  ogTitle: ["og:title", "twitter:title"],
  ogDescription: ["og:description"],
  ogUrl: ["og:url"],
  ogImage: ["og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"],
  ogAudio: ["og:audio"],
  ogVideo: ["og:video"],
  ogDeterminer: ["og:determiner"],
  ogLocale: ["og:locale"],
  ogLocaleAlternate: ["og:locale:alternate"],
  ogSiteName: ["og:site_name"],
  articleTag: ["article:tag"],
  articleSection: ["article:section"],
  dctermsCreated: ["dcterms.created"],
  dcDateCreated: ["dc.date.created"],
  dcDate: ["dc.date"],
  dctermsType: ["dcterms.type"],
  dcType: ["dc.type"],
  dctermsAudience: ["dcterms.audience"],
  dctermsSubject: ["dcterms.subject"],
  dcSubject: ["dc.subject"],
  dcDescription: ["dc.description"],
  dctermsKeywords: ["dcterms.keywords"],
};

/** Members whose values are addresses. */
const addressMembers = ["ogImage", "ogUrl", "ogVideo", "ogAudio"];

/** Different meta tags of one page, and characters of one value. Real pages have some dozens. */
const tagsMax = 200;
const valueCharactersMax = 10_000;

/** The title, description, language, dates … of a page: from its meta tags, and if they are silent from its JSON-LD and its headings. */
export function metadataOf(document: Document, addresses: AddressResolver): PageMetadata {
  const head = readHead(document);
  const metadata: PageMetadata = Object.fromEntries(head.tags);
  for (const [member, names] of Object.entries(members)) {
    const found = names.find((name) => head.tags.has(name) || head.folded.has(name));
    const value = found === undefined ? undefined : (head.tags.get(found) ?? head.folded.get(found));
    if (value !== undefined)
      metadata[member] = member === "articleTag" || member === "keywords" ? joined(value) : first(value);
  }
  for (const member of addressMembers) {
    const address = metadata[member];
    if (typeof address === "string") metadata[member] = addresses.web(address) ?? address;
  }
  return withoutGaps({ ...metadata, ...readElements(head, metadata, addresses) });
}

type Tags = Map<string, string | string[]>;

interface Head {
  /** Meta tags by the name that the page writes; a tag that is repeated has several values. */
  tags: Tags;
  /** Further names of tags, in lower case: of a name with capital letters, and of an `itemprop`. */
  folded: Tags;
  title: Element | undefined;
  heading: Element | undefined;
  root: Element | undefined;
  links: Element[];
  /** Those with JSON-LD. */
  scripts: Element[];
  time: Element | undefined;
}

function readHead(document: Document): Head {
  const head: Head = {
    tags: new Map(),
    folded: new Map(),
    title: undefined,
    heading: undefined,
    root: undefined,
    links: [],
    scripts: [],
    time: undefined,
  };
  for (const element of elementsOf(document, ({ name }) => name !== "svg" && name !== "template")) {
    if (element.name === "meta") addTag(head, element);
    else if (element.name === "script") {
      if (isLinkedData(element)) head.scripts.push(element);
    } else if (element.name === "title") head.title ??= element;
    else if (element.name === "h1") head.heading ??= element;
    else if (element.name === "html") head.root ??= element;
    else if (element.name === "link" && head.links.length < tagsMax) head.links.push(element);
    else if (element.name === "time" && element.attribs["datetime"] !== undefined) head.time ??= element;
  }
  return head;
}

function addTag({ tags, folded }: Head, { attribs }: Element): void {
  const name = (attribs["name"] ?? attribs["property"] ?? httpEquivalent(attribs["http-equiv"]))?.trim();
  const value = attribs["content"]?.trim().slice(0, valueCharactersMax);
  const item = attribs["itemprop"]?.trim().toLowerCase();
  if (item !== undefined && value !== undefined && value !== "" && folded.size < tagsMax) addValue(folded, item, value);
  if (
    name === undefined ||
    name === "" ||
    name === "__proto__" ||
    value === undefined ||
    value === "" ||
    tags.size >= tagsMax
  )
    return;
  addValue(tags, name, value);
  if (name !== name.toLowerCase()) addValue(folded, name.toLowerCase(), value);
}

/** The only headers in meta tags that concern the content. */
function httpEquivalent(name: string | undefined): string | undefined {
  return name !== undefined && /^(content-language|last-modified)$/i.test(name.trim()) ? name.toLowerCase() : undefined;
}

function addValue(tags: Tags, name: string, value: string): void {
  const before = tags.get(name);
  if (before === undefined) tags.set(name, value);
  else if ([before].flat().length < tagsMax && ![before].flat().includes(value)) tags.set(name, [before, value].flat());
}

function readElements(head: Head, metadata: PageMetadata, addresses: AddressResolver): PageMetadata {
  const facts = linkedFacts(head.scripts);
  const language =
    head.root?.attribs["lang"] ??
    head.root?.attribs["xml:lang"] ??
    first(head.folded.get("content-language") ?? head.tags.get("content-language"));
  return withoutGaps({
    title: textOf(head.title) ?? metadata.ogTitle ?? facts.title ?? textOf(head.heading),
    description: metadata.description ?? facts.description,
    language: language?.trim().slice(0, 100),
    author: metadata.author ?? facts.author,
    publishedTime: metadata.publishedTime ?? facts.publishedTime ?? publishedAt(head.time),
    modifiedTime: metadata.modifiedTime ?? facts.modifiedTime,
    favicon: iconOf(head.links, addresses),
    canonical: addressOf(head.links, /\bcanonical\b/i, addresses),
  });
}

/** A `time` element that is marked as the date of the page. */
function publishedAt(time: Element | undefined): string | undefined {
  if (time === undefined) return undefined;
  const marked =
    time.attribs["pubdate"] !== undefined ||
    /datePublished|published|entry-date/i.test(`${time.attribs["itemprop"] ?? ""} ${time.attribs["class"] ?? ""}`);
  return marked ? time.attribs["datetime"] : undefined;
}

function iconOf(links: readonly Element[], addresses: AddressResolver): string | undefined {
  return (
    addressOf(links, /^(shortcut )?icon$/i, addresses) ?? addressOf(links, /\bicon\b|apple-touch-icon/i, addresses)
  );
}

function addressOf(links: readonly Element[], relation: RegExp, addresses: AddressResolver): string | undefined {
  const link = links.find(
    ({ attribs }) => relation.test((attribs["rel"] ?? "").trim()) && attribs["href"] !== undefined,
  );
  const href = link?.attribs["href"];
  return href === undefined ? undefined : (addresses.image(href) ?? undefined);
}

function textOf(element: Element | undefined): string | undefined {
  if (element === undefined) return undefined;
  const [only] = element.children;
  const text = element.children.length === 1 && only !== undefined && isText(only) ? only.data : textContent(element);
  const folded = text.slice(0, valueCharactersMax).replaceAll(/\s+/g, " ").trim();
  return folded === "" ? undefined : folded;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function joined(value: string | string[]): string {
  return Array.isArray(value) ? value.join(", ") : value;
}

function withoutGaps(metadata: Record<string, string | string[] | undefined>): PageMetadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}
