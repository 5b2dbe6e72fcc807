/** What filters of a query can be judged by a result's address, title, description and date. */
import type { SearchHit, SearchQuery, SearchTerm } from "./query.ts";
import { containsWords } from "./words.ts";

/**
 * Whether a result passes the filters. Words and phrases are the back end's own work, and a result whose date is unknown passes: see
 * `isUndated`.
 */
export function passes(query: SearchQuery, hit: SearchHit): boolean {
  const address = URL.parse(hit.url);
  if (address === null || (address.protocol !== "https:" && address.protocol !== "http:")) return false;
  return isAtPlace(query, address) && hasTexts(query, hit) && isInTime(query, hit);
}

/** Whether a result's date is asked for and unknown. */
export function isUndated({ since, until }: SearchQuery, { datedAt }: SearchHit): boolean {
  return (since !== undefined || until !== undefined) && datedAt === undefined;
}

function isAtPlace(query: SearchQuery, address: URL): boolean {
  const isOf = (site: string): boolean => isOnSite(address.hostname, site);
  if (query.sites.length > 0 && !query.sites.some(isOf)) return false;
  if (query.excludedSites.some(isOf)) return false;
  const extension = extensionOf(address.href);
  if (query.filetypes.length > 0 && !query.filetypes.includes(extension)) return false;
  if (query.excludedFiletypes.includes(extension)) return false;
  const has = (part: string): boolean => address.href.toLowerCase().includes(addressPart(part));
  return query.addresses.every(has) && !query.excludedAddresses.some(has);
}

function hasTexts(query: SearchQuery, hit: SearchHit): boolean {
  const { title, description } = hit;
  if (!query.titles.every((text) => containsWords(title, text))) return false;
  if (query.excludedTitles.some((text) => containsWords(title, text))) return false;
  if (query.excluded.some((text) => containsWords(`${title}\n${description}`, text))) return false;
  return query.alternatives.every((terms) => terms.some((term) => mayHave(term, hit)));
}

function mayHave({ kind, text }: SearchTerm, { url, title }: SearchHit): boolean {
  switch (kind) {
    case "site":
      return isOnSite(new URL(url).hostname, text);
    case "filetype":
      return extensionOf(url) === text;
    case "title":
      return containsWords(title, text);
    case "address":
      return new URL(url).href.toLowerCase().includes(addressPart(text));
    default:
      return true;
  }
}

function isInTime({ since, until }: SearchQuery, { datedAt }: SearchHit): boolean {
  if (datedAt === undefined) return true;
  return (since === undefined || datedAt >= since) && (until === undefined || datedAt < until);
}

/** Whether a host is a site, or one of its subdomains. */
export function isOnSite(hostname: string, site: string): boolean {
  const host = hostname.replace(/^www\./, "");
  return host === site || host.endsWith(`.${site}`);
}

/** The extension of an address's last segment, in lower case; empty without one. */
export function extensionOf(url: string): string {
  return /\.([a-z0-9]{1,10})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? "";
}

/** A part of an address as addresses have it: in lower case, and other letters than ASCII's escaped. */
export function addressPart(text: string): string {
  const written = text.toWellFormed().replaceAll(/%(?![0-9a-f]{2})/gi, "%25");
  return encodeURI(written).replaceAll("%25", "%").toLowerCase();
}
