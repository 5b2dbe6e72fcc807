export { readSitemaps, type SitemapDependencies, sitemapProblems, type SitemapsRead } from "./read-sitemaps.ts";
