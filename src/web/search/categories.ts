/** The kinds of pages that Firecrawl names: each is a filter by the address, which holds on every back end. */
import { isOnSite, extensionOf } from "./passes.ts";
import type { SearchHit, SearchTerm } from "./query.ts";

export type SearchCategory = "github" | "research" | "pdf";

const RESEARCH_SITES = [
  "arxiv.org",
  "scholar.google.com",
  "pubmed.ncbi.nlm.nih.gov",
  "ncbi.nlm.nih.gov",
  "researchgate.net",
  "nature.com",
  "science.org",
  "ieee.org",
  "acm.org",
  "springer.com",
  "sciencedirect.com",
  "plos.org",
  "biorxiv.org",
  "medrxiv.org",
];

const TERMS: Readonly<Record<SearchCategory, readonly SearchTerm[]>> = {
  github: [{ kind: "site", text: "github.com" }],
  research: RESEARCH_SITES.map((text) => ({ kind: "site", text })),
  pdf: [{ kind: "filetype", text: "pdf" }],
};

/** A result is of one of the categories. */
export function categoryTerms(categories: readonly SearchCategory[]): readonly SearchTerm[] {
  return categories.flatMap((category) => TERMS[category]);
}

/** The first of the categories that a result is of. */
export function categoryOf(categories: readonly SearchCategory[], { url }: SearchHit): SearchCategory | undefined {
  const { hostname } = new URL(url);
  return categories.find((category) =>
    TERMS[category].some(({ kind, text }) => (kind === "site" ? isOnSite(hostname, text) : extensionOf(url) === text)),
  );
}
