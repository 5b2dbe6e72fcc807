export { readSitemaps, type SitemapDependencies } from "./read-sitemaps.ts";
