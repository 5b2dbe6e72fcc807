/** The entries of a sitemap, and its bounds. The gateway loads this, the parser only the children. */

/** Bytes of one sitemap, as it is sent and unpacked: the protocol's bound. */
export const sitemapBytesMax = 50 * 1024 * 1024;

/** Addresses that are taken from sitemaps; the protocol allows 50,000 in one. */
export const sitemapAddressesMax = 100_000;

/** Characters of all these addresses and titles together. */
export const sitemapCharactersMax = 20_000_000;

export interface SitemapRequest {
  /** The address of the sitemap: the base of relative ones. */
  url: string;
  contentType: string | undefined;
  /** The bytes are only the beginning of the sitemap. */
  isCut: boolean;
}

export interface SitemapEntry {
  /** Absolute, on the web, without fragment. */
  url: string;
  /** Of an entry of a feed. */
  title?: string;
}

/** The entries of a sitemap. A feed and a text with one address a line are sitemaps too. */
export interface Sitemap {
  /** Pages. */
  pages: Iterable<SitemapEntry>;
  /** Further sitemaps, of an index. */
  sitemaps: Iterable<SitemapEntry>;
  /** It is longer than the part that was read. */
  isCut: boolean;
}
