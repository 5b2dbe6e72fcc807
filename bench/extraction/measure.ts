import { loadExtraction, PagePool, type PageRequest, type PageType } from "../../src/pages/index.ts";
import { corpusFolder, hasCorpus, readCorpus, readPage, type KnownPage } from "./corpus.ts";
import { hasNews, newsFolder, readSnippetPages, scoreSnippets, type SnippetPage, type SnippetScore } from "./news.ts";
import { f1Of, plainText, wordsOf } from "./score.ts";

const { mainContent, parseHtml } = await loadExtraction();

/** How well the markdown of known pages agrees with their content, and how long finding it takes. */
export interface ExtractionFigures {
  readonly scores: readonly { readonly type: PageType; readonly f1: number }[];
  /** Milliseconds by size of the page, of finding the content in a parsed page: medians. */
  /** Of pages of news and blogs; null if they are absent. */
  readonly news: SnippetScore | null;
  readonly times: readonly { readonly pages: string; readonly medianMs: number }[];
}

const sizes: readonly { readonly pages: string; readonly from: number; readonly to: number }[] = [
  { pages: "30 to 70 KB", from: 30_000, to: 70_000 },
  { pages: "150 to 250 KB", from: 150_000, to: 250_000 },
  { pages: "over 1 MB", from: 1_000_000, to: Infinity },
];

/** Null, with a line that says why, if the corpus is absent. */
export async function measureExtraction(say: (line: string) => void): Promise<ExtractionFigures | null> {
  if (!hasCorpus()) {
    say(`extraction: skipped, there is no corpus in ${corpusFolder}`);
    return null;
  }
  const known = readCorpus();
  say(`extraction: ${known.length} pages`);
  const pool = new PagePool();
  try {
    const scores: { type: PageType; f1: number }[] = [];
    for (const page of known) scores.push({ type: page.type, f1: await scoreOf(page, pool) });
    return { scores, news: await measureNews(pool, say), times: measureTimes(known) };
  } finally {
    await pool.close();
  }
}

async function measureNews(pool: PagePool, say: (line: string) => void): Promise<SnippetScore | null> {
  if (!hasNews()) {
    say(`extraction of news: skipped, there are no pages in ${newsFolder}`);
    return null;
  }
  const pages = readSnippetPages();
  say(`extraction of news: ${pages.length} pages`);
  const texts = new Map<SnippetPage, string>();
  for (const page of pages) {
    const { markdown = "" } = await pool.takeApart(Buffer.from(page.html), requestFor(page), { owner: "bench" });
    texts.set(page, markdown);
  }
  return scoreSnippets(pages, (page) => texts.get(page) ?? "");
}

/** The F1 of the markdown that a scrape of the page gives. */
async function scoreOf(page: KnownPage, pool: PagePool): Promise<number> {
  const { markdown = "" } = await pool.takeApart(Buffer.from(readPage(page)), requestFor(page), { owner: "bench" });
  return f1Of(wordsOf(plainText(markdown)), wordsOf(page.content));
}

function requestFor({ url }: { url: string }): PageRequest {
  return {
    url,
    contentType: "text/html; charset=utf-8",
    wants: { markdown: true },
    onlyMainContent: true,
    includeTags: [],
    excludeTags: [],
    removeBase64Images: true,
    pdf: { parse: true, pagesMax: 1 },
  };
}

function measureTimes(known: readonly KnownPage[]): ExtractionFigures["times"] {
  const timed = known.map((page) => {
    const html = readPage(page);
    const document = parseHtml(html);
    const start = performance.now();
    mainContent(document, { url: page.url });
    return { bytes: html.length, ms: performance.now() - start };
  });
  return sizes.map(({ pages, from, to }) => {
    const times = timed.filter(({ bytes }) => bytes >= from && bytes < to).map(({ ms }) => ms);
    return { pages, medianMs: times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0 };
  });
}
