import { startDeleting } from "../delete-regularly.ts";
import type { Feature } from "../feature.ts";
import { mapRoute } from "./map.ts";
import { scrapeRoute } from "./scrape.ts";
import { screenshotRoute } from "./screenshot.ts";

export const webFeature: Feature = {
  routes: [scrapeRoute, mapRoute, screenshotRoute],
  start: ({ storedBytes, clock, logger }) => startDeleting(() => storedBytes.deleteExpired(clock()), logger),
};
