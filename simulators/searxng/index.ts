import type { Corpus } from "../shared/search/corpus.ts";
import type { Call, SimulatedProvider } from "../shared/types.ts";
import { searxngErrors } from "./errors.ts";
import { searchRoutes } from "./search.ts";

/** A simulated SearXNG instance. It asks for no key. Behind `/searxng/html-only` its JSON format is switched off. */
export function searxng(corpus: () => Corpus): SimulatedProvider {
  return {
    name: "searxng",
    basePath: "/searxng",
    errors: searxngErrors,
    routes: searchRoutes(corpus),
    apiKey: () => "",
    faultSpec: (call) => faultIn(call),
    responseHeaders: () => ({ "server-timing": "total;dur=12.5", "x-robots-tag": "noindex, nofollow" }),
  };
}

/** `fault:SPEC` in the query. */
function faultIn({ query, bytes }: Call): string | null {
  const text = query.get("q") ?? new URLSearchParams(Buffer.from(bytes).toString("utf8")).get("q") ?? "";
  return /\bfault:(\S+)/.exec(text)?.[1] ?? null;
}
