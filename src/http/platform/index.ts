import type { Feature } from "../feature.ts";
import { healthRoute } from "./health.ts";
import { litellmHealthRoutes } from "./litellm-health.ts";
import { openapiRoute } from "./openapi.ts";
import { readyRoute } from "./ready.ts";
import { startPageRoute } from "./start-page.ts";

export const platformFeature: Feature = {
  routes: [startPageRoute, openapiRoute, healthRoute, readyRoute, ...litellmHealthRoutes],
};
