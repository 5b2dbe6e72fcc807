/** The addresses of an extraction: pages, sites whose pages are read, and the answer, which is the last one. */
import { withScheme } from "../../scrape/scrape-request.ts";
import type { CrawlDependencies } from "../crawl-dependencies.ts";
import { hashOf, namedAddress, pageKey } from "../page-address.ts";
import type { Crawl, CrawlFinish, NewPage } from "../store.ts";

/** Pages of one extraction, those of sites included, and those of each site. */
export const PAGES_MAX = 200;
export const PAGES_PER_SITE_MAX = 50;

/** The page, or the site, that an address names; undefined for one that names none. */
export function namedPage(text: string): NewPage | undefined {
  const isSite = text.trim().endsWith("/*");
  const url = namedAddress(withScheme(isSite ? text.trim().slice(0, -1) : text));
  if (url === undefined) return undefined;
  const key = isSite ? hashOf(`site ${url.href}`) : pageKey(url, { ignoresQuery: false });
  return { kind: isSite ? "site" : "page", key, url: url.href, host: url.host, depth: 0 };
}

const ANSWER_URL = "";

/** Its host is the extraction itself: no other one holds it up. */
function answerOf(id: string): NewPage {
  return { kind: "answer", key: "answer", url: ANSWER_URL, host: `extract:${id}`, depth: 0 };
}

/**
 * How a crawl ends whose pages have all ended; undefined if it goes on: to the pages of an extraction comes its answer. Other nodes
 * may add that at the same moment.
 */
export async function endOfPages(
  { crawls, environment }: Pick<CrawlDependencies, "crawls" | "environment">,
  { id, kind }: Crawl,
): Promise<Pick<CrawlFinish, "state" | "failure"> | undefined> {
  if (kind !== "extract") return { state: "completed" };
  const { added } = await crawls.add(id, [answerOf(id)], environment.clock(), Number.MAX_SAFE_INTEGER);
  const crawl = added > 0 ? undefined : await crawls.find(id);
  const isOver = crawl !== undefined && crawl.discovered <= crawl.completed + crawl.failed + crawl.skipped;
  if (!isOver) return undefined;
  // Its processes have died.
  const failure = (await crawls.failures(id, crawl.discovered)).find(({ url }) => url === ANSWER_URL);
  return failure === undefined ? { state: "completed" } : { state: "failed", failure };
}
