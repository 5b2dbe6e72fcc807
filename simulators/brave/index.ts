import type { Corpus } from "../shared/search/corpus.ts";
import type { Call, SimulatedProvider } from "../shared/types.ts";
import { braveErrors } from "./errors.ts";
import { parametersOf, searchRoutes } from "./search.ts";

/** The simulated search API of Brave. */
export function brave(corpus: () => Corpus): SimulatedProvider {
  return {
    name: "brave",
    basePath: "/brave/res/v1",
    errors: braveErrors,
    routes: searchRoutes(corpus),
    apiKey: ({ headers }: Call) => headers["x-subscription-token"] ?? null,
    // `fault:SPEC` in the query.
    faultSpec: (call) => /\bfault:(\S+)/.exec(parametersOf(call)["q"] ?? "")?.[1] ?? null,
    responseHeaders: () => ({
      "x-ratelimit-limit": "20, 15000",
      "x-ratelimit-policy": "20;w=1, 15000;w=2592000",
      "x-ratelimit-remaining": "19, 14999",
      "x-ratelimit-reset": "1, 1000000",
    }),
  };
}
