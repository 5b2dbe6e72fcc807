import { sitePages } from "../../site/index.ts";
import { type Entry, madeUpEntries } from "./made-up-entries.ts";

export type { Entry } from "./made-up-entries.ts";

/** The day on which the simulated search engines live, so that periods always match the same entries. */
export const searchDay = "2026-06-01";

/** Everything that the simulated search engines know: the pages of the demo site, and some hundred made-up entries. */
export type Corpus = readonly Entry[];

/** Reads the corpus at the first use. `site` is the address of the demo site, without a slash at the end. */
export function lazyCorpus(site: string): () => Corpus {
  let corpus: Corpus | undefined;
  return () => (corpus ??= [...siteEntries(site), ...madeUpEntries()]);
}

function siteEntries(site: string): Entry[] {
  return sitePages().map(({ path, title, description, markdown, date }) => ({
    url: site + path,
    title: `${title} | Brindlewick`,
    description,
    text: markdown,
    date,
    language: "en",
    kind: "page",
  }));
}
