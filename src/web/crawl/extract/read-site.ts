import type { Work } from "../../../charges/index.ts";
import type { MappedSite } from "../../engine.ts";
import type { CrawlDependencies } from "../crawl-dependencies.ts";
import { isFile, pageAddress, pageKey } from "../page-address.ts";
import type { PageRun } from "../page/hold-page.ts";
import type { NewPage } from "../store.ts";
import { PAGES_MAX, PAGES_PER_SITE_MAX } from "./extraction-pages.ts";

/** Addresses of a site that are looked at, and characters of the prompt by which they are ranked. */
const LINKS_MAX = 5_000;
const SEARCH_CHARACTERS_MAX = 1_000;

/** Hosts whose robots.txt is asked for. */
const HOSTS_MAX = 20;

/** Adds the pages below a site's address that fit the prompt best, and that its robots.txt allows. Rejects as a map does. */
export async function readSite(
  deps: CrawlDependencies,
  { page, crawl, signal }: PageRun,
  work: Work,
): Promise<MappedSite> {
  const { prompt, includeSubdomains = false } = crawl.plan.extraction ?? {};
  const search = prompt?.slice(0, SEARCH_CHARACTERS_MAX);
  const plan = deps.engine.planMap({ url: page.url, search, includeSubdomains, limit: LINKS_MAX });
  const mapped = await plan.run({
    workId: work.order.id,
    names: work.order,
    principal: crawl.principal,
    signal,
    cover: (usage) => work.cover(usage),
  });
  const pages = new Map<string, NewPage>();
  const hosts = new Set<string>();
  for (const link of mapped.links) {
    if (pages.size >= PAGES_PER_SITE_MAX) break;
    const url = pageAddress(link.url);
    if (url === undefined || isFile(url) || !isBelow(url, new URL(page.url), includeSubdomains)) continue;
    hosts.add(url.host);
    if (hosts.size > HOSTS_MAX) break;
    const rules = await deps.robots.of(url.href);
    if (!rules.isAllowed(url.href, undefined)) continue;
    const key = pageKey(url, { ignoresQuery: false });
    pages.set(key, { kind: "page", key, url: url.href, host: url.host, depth: 1 });
  }
  await deps.crawls.add(crawl.id, [...pages.values()], deps.environment.clock(), PAGES_MAX);
  return mapped;
}

/** Whether the address is one of the site, and below the path that was named. */
function isBelow(url: URL, site: URL, includesSubdomains: boolean): boolean {
  const isOwn = withoutWww(url.host) === withoutWww(site.host);
  const isSubdomain = includesSubdomains && url.host.endsWith(`.${withoutWww(site.host)}`);
  return (isOwn || isSubdomain) && `${url.pathname}/`.startsWith(site.pathname);
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, "");
}
