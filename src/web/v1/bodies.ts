/** The bodies of Firecrawl's v1 API that are answered at once. */
import { objectOf, objectsOf } from "../../core/index.ts";
import { documentForV1, namesExtract, optionsFromV1 } from "./scrape-options.ts";
import type { BodyTranslation } from "./translation.ts";

/** Results of a search by default; v2 has ten. */
const RESULTS = 5;

/** `POST /v1/scrape` */
export const scrapeV1: BodyTranslation = {
  request: optionsFromV1,
  answer: ({ data, ...rest }, asked) => ({
    ...rest,
    data: documentForV1(objectOf(data) ?? {}, namesExtract(asked)),
  }),
};

/** `POST /v1/map`, whose links are addresses alone. */
export const mapV1: BodyTranslation = {
  request: ({ ignoreSitemap, sitemapOnly, useIndex: _index, ...rest }) => ({
    ...rest,
    ...(ignoreSitemap === true && { sitemap: "skip" }),
    ...(sitemapOnly === true && { sitemap: "only" }),
  }),
  answer: ({ links, ...rest }) => ({ ...rest, links: objectsOf(links).map(({ url }) => url) }),
};

/** `POST /v1/search`, whose results are one list. Without formats it reads no page. */
export const searchV1: BodyTranslation = {
  request: ({ scrapeOptions, filter: _filter, lang, country, ...rest }) => {
    const options = objectOf(scrapeOptions);
    const reads = options !== undefined && Array.isArray(options["formats"]) && options["formats"].length > 0;
    // The SDKs send these two of themselves.
    const wishes = { ...(lang !== "en" && { lang }), ...(country !== "us" && { country }) };
    return { limit: RESULTS, ...rest, ...wishes, ...(reads && { scrapeOptions: optionsFromV1(options) }) };
  },
  answer: ({ data, warning, ...rest }, { scrapeOptions }) => {
    const asksExtract = namesExtract(objectOf(scrapeOptions) ?? {});
    const results = objectsOf(objectOf(data)?.["web"]).map((page) => documentForV1(page, asksExtract));
    return { ...rest, data: results, ...(warning != null && { warning }) };
  },
};
