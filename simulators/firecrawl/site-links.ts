import type { Corpus } from "../shared/search/corpus.ts";

/** A link as map returns it. */
export interface SiteLink {
  readonly url: string;
  readonly title?: string;
  readonly description?: string;
}

const madeUpPages = 30;

/** The links of a site: the pages that the corpus has of it, or some made-up ones. The given address comes first. */
export function linksOfSite(url: string, corpus: Corpus): SiteLink[] {
  const { origin, href } = new URL(url);
  const known = corpus.filter((entry) => new URL(entry.url).origin === origin);
  const links: SiteLink[] = known.map(({ url: one, title, description }) => ({ url: one, title, description }));
  if (known.length === 0) {
    for (let page = 1; page < madeUpPages; page++) links.push({ url: `${origin}/page-${page}`, title: `Page ${page}` });
  }
  return [{ url: href, ...links.find((link) => link.url === href) }, ...links.filter((link) => link.url !== href)];
}
