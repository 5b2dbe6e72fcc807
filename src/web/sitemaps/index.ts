export { readSitemaps, type SitemapDependencies, sitemapProblems, type SitemapsLeft } from "./read-sitemaps.ts";
