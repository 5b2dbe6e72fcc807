/** Local searches over all pages that a user may have in the index. */
import type { Storage } from "../../src/storage/index.ts";
import { openTextIndexStore, parseQuery, type TextIndexStore } from "../../src/web/index.ts";
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
const chunkPages = 1_000;
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
    const store = openTextIndexStore(storage);
    const at = Date.now();
    progress(`search: ${name}, ${pages} pages`);
    await fill(storage, store, { pages, at });
    progress(`search: ${name}, ${searches} searches`);
    return { store: name, pages, searches, ...(await search(store, searches, at)) };
  });
}

/** Many pages in one commit, where the engine permits it: a gateway writes one with each page that it reads. */
async function fill(
  storage: Storage,
  store: TextIndexStore,
  { pages, at }: { pages: number; at: number },
): Promise<void> {
  for (let from = 0; from < pages; from += chunkPages) {
    const some = Array.from({ length: Math.min(chunkPages, pages - from) }, (_, index) =>
      pageAt(from + index, owner, at),
    );
    if (storage.engine === "sqlite") {
      storage.handle.transaction(() => {
        for (const page of some) void store.put(page);
      })();
    } else {
      const put = async (): Promise<void> => {
        for (let page = some.pop(); page !== undefined; page = some.pop()) await store.put(page);
      };
      await Promise.all(Array.from({ length: callers }, put));
    }
  }
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
