import { bearerKey } from "../shared/http.ts";
import { asArray, asObject } from "../shared/json.ts";
import type { Corpus } from "../shared/search/corpus.ts";
import type { Call, Route, SimulatedProvider } from "../shared/types.ts";
import type { SimulatorClock } from "../shared/videos/stored-videos.ts";
import { firecrawlErrors } from "./errors.ts";
import { jobRoutes } from "./jobs.ts";
import { singleRoutes } from "./single.ts";
import { Teams } from "./team.ts";

export interface FirecrawlOptions {
  readonly corpus: () => Corpus;
  readonly clock: SimulatorClock;
}

/** The simulated Firecrawl API, version 2. Keys begin with `fc-`. */
export function firecrawl({ corpus, clock }: FirecrawlOptions): SimulatedProvider {
  const teams = new Teams(clock);
  const desk = { corpus, teams };
  const routes = [...singleRoutes(desk), ...jobRoutes(desk)].map(withKey);
  return {
    name: "firecrawl",
    basePath: "/firecrawl",
    errors: firecrawlErrors,
    routes,
    apiKey: ({ headers }) => bearerKey(headers),
    faultSpec: faultIn,
    responseHeaders: (call) => ({ "x-response-time": `${12 + call.identity.number("time", 80)}ms` }),
  };
}

/** Only keys that Firecrawl issues are taken. */
function withKey(route: Route): Route {
  return {
    ...route,
    handle: (call) => {
      const key = bearerKey(call.headers) ?? "";
      if (key.startsWith("fc-")) return route.handle(call);
      const { status, body } = firecrawlErrors.keyInvalid();
      return { kind: "json", status, body };
    },
  };
}

/** `?sim-fault=SPEC` of the page's address, or `fault:SPEC` in the query; directives may be separated by commas. */
function faultIn({ body }: Call): string | null {
  const { url, urls, query } = asObject(body);
  const [first] = asArray(urls);
  const address = url ?? first;
  const inQuery = typeof query === "string" ? /\bfault:(\S+)/.exec(query)?.[1] : undefined;
  const inAddress =
    typeof address === "string" && URL.canParse(address) ? new URL(address).searchParams.get("sim-fault") : null;
  return (inQuery ?? inAddress)?.replaceAll(/[ ,]/g, "+") ?? null;
}
