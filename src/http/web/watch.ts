import { limits } from "../../core/index.ts";
import type { Crawls } from "../../web/index.ts";
import type { ResponsesSocketSettings } from "../responses/responses-sockets.ts";
import type { Route } from "../route.ts";

interface Needs {
  crawls: Crawls;
  responsesSockets: Pick<ResponsesSocketSettings, "limit" | "messagesPerSecondMax">;
}

function watchRoute(kind: "crawl" | "batch", path: string): Route<Needs> {
  return {
    kind: "watch",
    method: "get",
    path,
    surface: "firecrawl",
    async handle({ principal, pathParameter }, { crawls, responsesSockets: { limit, messagesPerSecondMax } }) {
      const onEnd = limit.enter(principal.tokenId);
      const bounds = { messagesPerSecondMax, messageBytesMax: limits.watcherMessageBytesMax };
      try {
        return { ...(await crawls.watch({ principal, kind, id: pathParameter("id") })), bounds, onEnd };
      } catch (thrown) {
        onEnd();
        throw thrown;
      }
    },
  };
}

/** The WebSockets of the SDK's watchers. */
export const watchRoutes = [watchRoute("crawl", "/v2/crawl/{id}"), watchRoute("batch", "/v2/batch/scrape/{id}")];
