/** The results of a back end for each source that was asked for, filtered. */
import { type Clock, GatewayError } from "../../core/index.ts";
import type { WorkContext } from "../engine.ts";
import type { SearchBackend, SearchSource, SearchWishes } from "./backend.ts";
import { categoryTerms, type SearchCategory } from "./categories.ts";
import { isUndated, passes } from "./passes.ts";
import { parseQuery, type SearchHit, type SearchQuery, siteOf } from "./query.ts";
import type { SearchBody } from "./search-request.ts";
import { timeOfResults } from "./time-of-results.ts";
import { within } from "../within.ts";

/** Results that are asked of a back end for each one that is wanted: some do not pass the filters. */
const CANDIDATES_PER_RESULT = 2;

interface Asked {
  request: SearchBody;
  limit: number;
  /** By the performance clock. */
  until: number;
}

export interface FoundResults {
  hits: Partial<Record<SearchSource, readonly SearchHit[]>>;
  /** Whether the filters left out all that was found. */
  isFiltered: boolean;
  warnings: string[];
}

/** Rejects with a `GatewayError` if the back end fails, or takes too long. A source that it has not got is empty. */
export async function findResults(
  { backend, clock }: { backend: SearchBackend; clock: Clock },
  { request, limit, until }: Asked,
  { signal, principal }: WorkContext,
): Promise<FoundResults> {
  const at = clock();
  const sources = sourcesOf(request);
  const wishes = wishesOf(request);
  const time = timeOfResults(tbsOf(request) ?? "", at);
  const query = { ...parseQuery(request.query) };
  const filtered = withTime(withDomains(query, request), time);
  const late = new GatewayError("upstream_timeout", "The search engine took too long.");
  const found = await within({ signal, ms: until - performance.now(), late }, (either) =>
    Promise.all(
      sources.map(async (source) => {
        if (!backend.sources.includes(source)) return [];
        const candidates = Math.min(limit * CANDIDATES_PER_RESULT, 100);
        const asked = { source, query: filtered, wishes, limit: candidates, owner: principal.user, at };
        return backend.search({ ...asked, signal: either, until });
      }),
    ),
  );
  const passing = found.map((hits) =>
    ordered(
      hits.filter((hit) => passes(filtered, hit)),
      time.isNewestFirst,
    ).slice(0, limit),
  );
  return {
    hits: Object.fromEntries(sources.map((source, index) => [source, passing[index] ?? []])),
    isFiltered: found.some((hits) => hits.length > 0),
    warnings: [
      ...lacking(backend, sources, wishes),
      ...ignoredParts([...query.ignored, ...time.ignored]),
      ...undated(filtered, passing.flat()),
    ],
  };
}

/** Each source once, `web` by default. */
export function sourcesOf({ sources }: SearchBody): SearchSource[] {
  const names = (sources ?? ["web"]).map((source) => (typeof source === "string" ? source : source.type));
  return [...new Set<SearchSource>(names)];
}

export function categoriesOf({ categories }: SearchBody): SearchCategory[] {
  return (categories ?? []).map((category) => (typeof category === "string" ? category : category.type));
}

/** The request's own, or else that of a source. */
function tbsOf({ tbs, sources }: SearchBody): string | undefined {
  const ofSources = (sources ?? []).flatMap((source) => (typeof source === "string" ? [] : (source.tbs ?? [])));
  return tbs ?? ofSources[0];
}

function wishesOf({ location, country, lang, sources }: SearchBody): SearchWishes {
  const ofSources = (sources ?? []).flatMap((source) => (typeof source === "string" ? [] : (source.location ?? [])));
  const wishes = { location: location ?? ofSources[0], country: country ?? undefined, lang: lang ?? undefined };
  return Object.fromEntries(Object.entries(wishes).filter(([, wish]) => wish !== undefined && wish !== ""));
}

function withDomains(query: SearchQuery, request: SearchBody): SearchQuery {
  const terms = categoryTerms(categoriesOf(request));
  return {
    ...query,
    sites: [...query.sites, ...bareDomains(request.includeDomains)],
    excludedSites: [...query.excludedSites, ...bareDomains(request.excludeDomains)],
    alternatives: [...query.alternatives, ...(terms.length > 0 ? [terms] : [])],
  };
}

function bareDomains(domains: readonly string[] | null | undefined): string[] {
  return (domains ?? []).map(siteOf);
}

/** The narrower time holds. */
function withTime(query: SearchQuery, { since, until }: { since?: number; until?: number }): SearchQuery {
  return {
    ...query,
    ...(since !== undefined && { since: Math.max(since, query.since ?? since) }),
    ...(until !== undefined && { until: Math.min(until, query.until ?? until) }),
  };
}

function ordered(hits: SearchHit[], isNewestFirst: boolean): SearchHit[] {
  return isNewestFirst ? hits.toSorted((a, b) => (b.datedAt ?? 0) - (a.datedAt ?? 0)) : hits;
}

function lacking(backend: SearchBackend, sources: readonly SearchSource[], wishes: SearchWishes): string[] {
  const without = sources.filter((source) => !backend.sources.includes(source));
  const known: readonly string[] = backend.wishes;
  const unfulfilled = Object.keys(wishes).filter((wish) => !known.includes(wish));
  return [
    ...(without.length > 0 ? [`The search engine of this gateway has no ${without.join(" and no ")}.`] : []),
    ...(unfulfilled.length > 0 ? [`It does not know ${unfulfilled.join(", ")}, which changed nothing.`] : []),
  ];
}

function ignoredParts(parts: readonly string[]): string[] {
  return parts.length > 0 ? [`Not supported, and ignored: ${parts.join(", ")}.`] : [];
}

function undated(query: SearchQuery, hits: readonly SearchHit[]): string[] {
  const count = hits.filter((hit) => isUndated(query, hit)).length;
  return count > 0 ? [`The dates of ${count} results are unknown: they may be of another time.`] : [];
}
