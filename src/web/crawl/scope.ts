/** Which addresses belong to a crawl, and which are the work of a trap: pages that a site makes up without end. */
import type { PatternLists } from "../../pages/index.ts";
import { bareHost } from "../map/address-set.ts";
import type { Discovery } from "./crawl-request.ts";
import { hashOf, isFile, pageAddress, pageKey } from "./page-address.ts";
import type { NewPage } from "./store.ts";

/** Links from the start, if the request sets no bound. */
const DEPTH_MAX = 100;

/** Segments of a path, and how often one of them may occur: more is a path that repeats itself. */
const SEGMENTS_MAX = 30;
const REPEATED_MAX = 3;

/** Addresses that differ only in a date at their end, such as the months of a calendar. */
const DATES_MAX = 100;

/** Addresses that differ only in a number within their path that looks like that of a session. */
const SESSIONS_MAX = 50;

/** Shapes of such addresses that are counted. */
const SHAPES_MAX = 1_000;

/** Why an address is left out, for the crawl's errors. */
export const traps = {
  TOO_DEEP: "Pages further from the start than the crawl's depth are left out.",
  REPEATING_PATH: "Addresses whose path repeats itself are left out.",
  CALENDAR: "Addresses that differ only in a date are left out beyond the first hundred.",
  SESSION_IDS: "Addresses that differ only in what looks like a session's id are left out beyond the first fifty.",
} as const;

export type Trap = keyof typeof traps;

export interface FoundAddress {
  url: string;
  depth: number;
}

/** The scope of one crawl. Counts in one process, which bounds what it finds; the frontier bounds the whole. */
export class CrawlScope {
  readonly #discovery: Discovery;
  readonly #start: URL;
  readonly #basePath: string;
  readonly #shapes = new Map<string, number>();

  constructor(startUrl: string, discovery: Discovery) {
    this.#discovery = discovery;
    this.#start = new URL(startUrl);
    this.#basePath = basePathOf(this.#start);
  }

  /**
   * The page at this address; undefined if it is not part of the crawl, or the trap that it belongs to. `isWanted` is the
   * verdict of the patterns.
   */
  place({ url: text, depth }: FoundAddress, isWanted: (url: URL) => boolean): NewPage | Trap | undefined {
    const url = pageAddress(text);
    if (url === undefined || !this.mayBePage(url) || !isWanted(url)) return undefined;
    if (this.#discovery.depthMax !== undefined && depth > this.#discovery.depthMax) return undefined;
    if (depth > DEPTH_MAX) return "TOO_DEEP";
    if (repeatsItself(url)) return "REPEATING_PATH";
    return this.pageAt(url, depth);
  }

  /** Counts an address that is new. Returns the trap that it belongs to, if there have been too many of its like. */
  trapOf({ url: text }: NewPage): Trap | undefined {
    const url = new URL(text);
    const date = dateShapeOf(url);
    if (date !== undefined && this.#isBeyond(date, DATES_MAX)) return "CALENDAR";
    const session = sessionShapeOf(url);
    return session !== undefined && this.#isBeyond(session, SESSIONS_MAX) ? "SESSION_IDS" : undefined;
  }

  #isBeyond(shape: string, most: number): boolean {
    const count = this.#shapes.get(shape) ?? 0;
    if (count >= most) return true;
    if (this.#shapes.size < SHAPES_MAX || count > 0) this.#shapes.set(shape, count + 1);
    return false;
  }

  /** The sitemaps of this address's host, as a page of the frontier. */
  sitemapsAt(url: URL): NewPage {
    return { ...this.pageAt(url, 0), kind: "sitemap", key: hashOf(`sitemap ${url.host}`) };
  }

  pageAt(url: URL, depth: number): NewPage {
    const key = pageKey(url, this.#discovery);
    return { kind: "page", key, url: url.href, host: url.host, depth };
  }

  /** Whether addresses of this host can belong to the crawl, whatever the patterns say. */
  mayHave(url: URL): boolean {
    return this.#discovery.externalLinks || this.isOwnHost(url);
  }

  /** Whether a page of the crawl can be at this address, whatever the patterns say. */
  mayBePage(url: URL): boolean {
    return !isFile(url) && this.isWithin(url);
  }

  /** Whether the host and the path belong to the crawl, whatever the patterns say. */
  isWithin(url: URL): boolean {
    if (!this.isOwnHost(url)) return this.#discovery.externalLinks;
    const { pathname } = url;
    const base = this.#basePath;
    return this.#discovery.entireDomain || base === "" || pathname === base || pathname.startsWith(`${base}/`);
  }

  /** Compared with each address; undefined if all addresses are wanted. */
  get patterns(): PatternLists | undefined {
    const { includePaths: include, excludePaths: exclude } = this.#discovery;
    return include.length + exclude.length === 0 ? undefined : { include, exclude };
  }

  /** The part of an address that is compared with the patterns. */
  comparedPart({ href, pathname }: URL): string {
    return this.#discovery.matchesFullUrl ? href : pathname;
  }

  /** Whether it is the start's host, or a subdomain of it if those belong to the crawl. */
  isOwnHost({ hostname, port }: URL): boolean {
    const [host, start] = [bareHost(hostname), bareHost(this.#start.hostname)];
    if (port !== this.#start.port) return false;
    return host === start || (this.#discovery.subdomains && host.endsWith(`.${start}`));
  }
}

/** The directory of the start: a last segment with a dot is a file of it. */
function basePathOf({ pathname }: URL): string {
  const path = pathname.replace(/\/[^/]*\.[^/]*$/, "").replace(/\/+$/, "");
  return path;
}

function repeatsItself({ pathname }: URL): boolean {
  const segments = pathname.split("/").filter((segment) => segment !== "");
  if (segments.length > SEGMENTS_MAX) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) {
    const count = (counts.get(segment) ?? 0) + 1;
    if (count > REPEATED_MAX) return true;
    counts.set(segment, count);
  }
  return false;
}

const YEAR = /^(?:19|2\d)\d{2}$/;
const DATE = /^(?:\d{4}-\d{1,2}(?:-\d{1,2})?|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/;
const DATE_PARAMETER = /^(?:year|month|day|date|week|y|m|d)$/i;

/** Parameters with numbers of other kinds too, such as a position in a list. */
const RANGE_PARAMETER = /^(?:from|to|start|end)$/i;

function isDateParameter([name, value]: [string, string]): boolean {
  if (DATE_PARAMETER.test(name)) return /^[\d/.:TZ-]+$/.test(value);
  return RANGE_PARAMETER.test(name) && (DATE.test(value) || /^\d+[-/.]\d+[\d/.:TZ-]*$/.test(value));
}

/** The address with its date removed; undefined if it does not end with one. A number alone may be an id, unlike a year and month. */
function dateShapeOf({ host, pathname, searchParams }: URL): string | undefined {
  if ([...searchParams].some(isDateParameter)) {
    return `${host}${pathname}?${[...searchParams.keys()].toSorted().join("&")}`;
  }
  const segments = pathname.replace(/\/+$/, "").split("/");
  let end = segments.length;
  while (end > 0 && /^\d{1,2}$/.test(segments[end - 1] ?? "")) end -= 1;
  const segment = segments[end - 1] ?? "";
  const isDate = DATE.test(segment) || (end < segments.length && YEAR.test(segment));
  return isDate ? `${host}${segments.slice(0, end - 1).join("/")}/*` : undefined;
}

/** Hexadecimal, with digits and letters: years and words have one kind only. */
const SESSION = /^(?=[0-9a-f-]*[0-9])(?=[0-9a-f-]*[a-f])[0-9a-f-]{8,64}$/i;

/** The address up to its session, if a segment before the last looks like one: a page's own id is mostly the last. */
function sessionShapeOf({ host, pathname }: URL): string | undefined {
  const segments = pathname.replace(/\/+$/, "").split("/");
  const at = segments.findIndex((segment, index) => index < segments.length - 1 && SESSION.test(segment));
  return at < 0 ? undefined : `${host}${segments.slice(0, at).join("/")}/<session>`;
}
