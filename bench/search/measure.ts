/** Local searches over all pages that a user may have in the index. */
import { openWebStores, parseQuery, type TextIndexStore } from "../../src/web/index.ts";
import { Samples } from "../load/samples.ts";
import { onEachStore } from "../system/stores.ts";
import { pageAt, queryAt } from "./corpus.ts";

export interface SearchFigures {
  store: string;
  pages: number;
  /** Milliseconds of one search. */
  p50: number;
  p99: number;
  /** The slowest query. */
  slowest: { query: string; ms: number };
  /** Searches that found something. */
  found: number;
  searches: number;
}

const owner = "bench";
const hits = 10;
const callers = 16;

export interface SearchPlan {
  pages: number;
  searches: number;
}

export function measureSearch(
  { pages, searches }: SearchPlan,
  progress: (line: string) => void,
): Promise<SearchFigures[]> {
  return onEachStore(async ({ name, storage }) => {
    const store = openWebStores(storage).textIndex;
    const at = Date.now();
    progress(`search: ${name}, ${pages} pages`);
    await fill(store, { pages, at });
    progress(`search: ${name}, ${searches} searches`);
    return { store: name, pages, searches, ...(await search(store, searches, at)) };
  });
}

async function fill(store: TextIndexStore, { pages, at }: { pages: number; at: number }): Promise<void> {
  let next = 0;
  const put = async (): Promise<void> => {
    while (next < pages) {
      next += 1;
      await store.put(pageAt(next - 1, owner, at));
    }
  };
  await Promise.all(Array.from({ length: callers }, put));
}

async function search(store: TextIndexStore, searches: number, at: number) {
  const samples = new Samples();
  let slowest = { query: "", ms: 0 };
  let found = 0;
  for (let index = -Math.ceil(searches / 4); index < searches; index += 1) {
    const text = queryAt(Math.abs(index));
    const query = parseQuery(text);
    const begun = performance.now();
    const results = await store.search({ owner, query, limit: hits, at });
    const ms = performance.now() - begun;
    if (index < 0) continue;
    samples.add(ms);
    if (results.length > 0) found += 1;
    if (ms > slowest.ms) slowest = { query: text, ms };
  }
  const { p50, p99 } = samples.spread() ?? { p50: Number.NaN, p99: Number.NaN };
  return { p50, p99, slowest, found };
}
