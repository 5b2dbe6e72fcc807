import { abortSignalOf } from "../../core/index.ts";
import { BrowserError } from "../../browser/index.ts";
import type { Page } from "../../pages/index.ts";
import type { NativeDependencies } from "../engines/native/native-dependencies.ts";
import { atEitherScheme } from "../engines/native/other-scheme.ts";
import { fetchPage, type PageReply } from "../engines/native/fetch-page.ts";
import type { MappedSite, WorkContext } from "../engine.ts";
import { pageFailure, timeoutFailure } from "../failures.ts";
import { withScheme } from "../scrape/scrape-request.ts";
import type { MemoryShare } from "../../streaming/index.ts";
import { readSitemaps, sitemapProblems, type SitemapsRead } from "../sitemaps/index.ts";
import { AddressSet, bareHost } from "./address-set.ts";
import { LINKS, MAP_TIMEOUT_MS, type MapRequest } from "./map-request.ts";
import { rankLinks } from "./rank-links.ts";

/** Addresses that are collected, to choose from. */
const COLLECTED_MAX = 100_000;

const SITEMAPS_AT_ONCE = 4;

/** The addresses of a site: its own, those of its sitemaps, those on its page. */
export async function mapSite(
  deps: NativeDependencies,
  request: MapRequest,
  context: WorkContext,
): Promise<MappedSite> {
  const memory = deps.memory.share();
  const until = performance.now() + (request.timeout ?? MAP_TIMEOUT_MS);
  const timeLeft = (): number => until - performance.now();
  try {
    const { principal, signal } = context;
    return await map(deps, request, { owner: principal.user, signal, timeLeft }, memory);
  } catch (reason) {
    throw timeoutFailure(pageFailure(reason), { code: "map_timeout", leftMs: timeLeft() });
  } finally {
    memory.free();
  }
}

async function map(
  deps: NativeDependencies,
  request: MapRequest,
  time: MapTime,
  memory: MemoryShare,
): Promise<MappedSite> {
  const { signal, timeLeft } = time;
  // The address is checked by the guard, and a redirect leads to the site's real host.
  const fetched = await atEitherScheme(request.url, (address) =>
    fetchPage(deps.outbound, {
      url: address,
      headers: {},
      languages: [],
      userAgent: deps.userAgent,
      timeoutMs: Math.max(timeLeft(), 1),
      bytesMax: deps.pageBytesMax,
      signal,
      memory,
    }),
  );
  const scope = {
    hosts: new Set([new URL(withScheme(request.url)), new URL(fetched.url)].map(({ hostname }) => bareHost(hostname))),
    includesSubdomains: request.includeSubdomains ?? true,
  };
  const ignoresQuery = request.ignoreQueryParameters ?? true;
  const addresses = new AddressSet({ scope, ignoresQuery, countMax: COLLECTED_MAX });
  const mode = request.sitemap ?? "include";
  if (mode !== "only") addresses.add(fetched.url);
  const sitemaps = mode === "skip" ? undefined : await addSitemaps(deps, addresses, fetched.url, time);
  if (mode !== "only") await addPageLinks(deps, addresses, fetched, time);
  const { search, limit } = request;
  const found = search == null || search === "" ? addresses.links : await rankLinks(addresses.links, search);
  const warnings: string[] = [...(sitemaps?.left.keys() ?? [])].map((problem) => sitemapProblems[problem]);
  if (timeLeft() <= 0) warnings.push("The time was over before everything had been read.");
  return {
    links: found.slice(0, limit ?? LINKS),
    usage: { maps: 1 },
    spent: 0n,
    ...(warnings.length > 0 && { warning: warnings.join(" ") }),
  };
}

interface MapTime extends Pick<WorkContext, "signal"> {
  /** The user who waits. */
  owner: string;
  /** Milliseconds; zero or less once the time is over. */
  timeLeft: () => number;
}

async function addSitemaps(
  deps: NativeDependencies,
  addresses: AddressSet,
  siteUrl: string,
  time: MapTime,
): Promise<SitemapsRead> {
  const rules = await deps.robots.now(siteUrl, { timeoutMs: Math.max(time.timeLeft(), 1), signal: time.signal });
  return readSitemaps(deps, {
    ...time,
    siteUrl,
    listed: rules.sitemaps,
    filesAtOnce: SITEMAPS_AT_ONCE,
    onPage: ({ url, title }) => addresses.add(url, title === undefined ? {} : { title }),
  });
}

async function addPageLinks(
  deps: NativeDependencies,
  addresses: AddressSet,
  fetched: PageReply,
  { owner, signal, timeLeft }: MapTime,
): Promise<void> {
  const read = (one: Pick<PageReply, "bytes" | "contentType" | "url">): Promise<Page> =>
    deps.pages.takeApart(
      one.bytes,
      { ...linksOnly, url: one.url, contentType: one.contentType },
      { owner, signal: abortSignalOf(signal) },
    );
  let page = await read(fetched);
  if (page.needsBrowser && !("missing" in deps.browser.available())) {
    try {
      const { html: bytes, url } = await deps.browser.render({
        owner,
        url: fetched.url,
        timeoutMs: Math.max(timeLeft(), 1),
        signal,
      });
      page = await read({ bytes, url, contentType: "text/html; charset=utf-8" });
    } catch (reason) {
      if (signal.aborted || !(reason instanceof BrowserError)) throw reason;
    }
  }
  addresses.add(fetched.url, { title: page.metadata.title, description: page.metadata.description });
  for (const link of page.links ?? []) addresses.add(link);
}

const linksOnly = {
  wants: { links: true },
  onlyMainContent: false,
  includeTags: [],
  excludeTags: [],
  removeBase64Images: true,
  pdf: { parse: false, pagesMax: 1 },
};
