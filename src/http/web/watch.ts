import { limits } from "../../core/index.ts";
import type { ApiVersion, Crawls } from "../../web/index.ts";
import type { ResponsesSocketSettings } from "../responses/responses-sockets.ts";
import type { Route } from "../route.ts";

interface Needs {
  crawls: Crawls;
  responsesSockets: Pick<ResponsesSocketSettings, "limit" | "messagesPerSecondMax">;
}

interface Watched {
  /** Either kind if undefined. */
  kind?: "crawl" | "batch";
  version: ApiVersion;
}

function watchRoute(path: string, { kind, version }: Watched): Route<Needs> {
  return {
    kind: "watch",
    method: "get",
    path,
    surface: version === "v1" ? "firecrawl_v1" : "firecrawl",
    async handle({ principal, pathParameter }, { crawls, responsesSockets: { limit, messagesPerSecondMax } }) {
      const onEnd = limit.enter(principal.tokenId);
      const bounds = { messagesPerSecondMax, messageBytesMax: limits.watcherMessageBytesMax };
      try {
        return { ...(await crawls.watch({ principal, kind, version, id: pathParameter("id") })), bounds, onEnd };
      } catch (thrown) {
        onEnd();
        throw thrown;
      }
    },
  };
}

/** The WebSockets of the SDK's watchers. */
export const watchRoutes = [
  watchRoute("/v2/crawl/{id}", { kind: "crawl", version: "v2" }),
  watchRoute("/v2/batch/scrape/{id}", { kind: "batch", version: "v2" }),
  watchRoute("/v1/crawl/{id}", { version: "v1" }),
  watchRoute("/v1/batch/scrape/{id}", { kind: "batch", version: "v1" }),
];
