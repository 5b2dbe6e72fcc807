import { startDeleting } from "../delete-regularly.ts";
import type { Feature } from "../feature.ts";
import { crawlRoutes } from "./crawl.ts";
import { creditUsageRoute, tokenUsageRoute, usageV1Routes } from "./credit-usage.ts";
import { extractRoutes } from "./extract.ts";
import { mapRoute } from "./map.ts";
import { parseRoutes } from "./parse.ts";
import { scrapeRoute } from "./scrape.ts";
import { searchRoute } from "./search.ts";
import { screenshotRoute } from "./screenshot.ts";
import { creditHistoryRoute, historyV1Routes, tokenHistoryRoute } from "./usage-history.ts";
import { v1Routes } from "./v1.ts";
import { watchRoutes } from "./watch.ts";

export const webFeature: Feature = {
  routes: [
    searchRoute,
    scrapeRoute,
    mapRoute,
    ...parseRoutes,
    ...crawlRoutes,
    ...extractRoutes,
    ...watchRoutes,
    creditUsageRoute,
    tokenUsageRoute,
    creditHistoryRoute,
    tokenHistoryRoute,
    screenshotRoute,
    ...v1Routes,
    ...usageV1Routes,
    ...historyV1Routes,
  ],
  start: ({ storedBytes, textIndex, crawls, clock, logger }) =>
    startDeleting(async () => {
      await storedBytes.deleteExpired(clock());
      await textIndex.deleteExpired(clock());
      await crawls.deleteExpired();
    }, logger),
};
