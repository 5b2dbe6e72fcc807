import type { Crawls } from "../../web/index.ts";
import type { Route } from "../route.ts";

interface Needs {
  crawls: Crawls;
}

function watchRoute(kind: "crawl" | "batch", path: string): Route<Needs> {
  return {
    kind: "watch",
    method: "get",
    path,
    surface: "firecrawl",
    handle: ({ principal, pathParameter }, { crawls }) => crawls.watch({ principal, kind, id: pathParameter("id") }),
  };
}

/** The WebSockets of the SDK's watchers. */
export const watchRoutes = [watchRoute("crawl", "/v2/crawl/{id}"), watchRoute("batch", "/v2/batch/scrape/{id}")];
