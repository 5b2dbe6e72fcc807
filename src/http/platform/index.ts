import type { Feature } from "../feature.ts";
import { healthRoute } from "./health.ts";
import { openapiRoute } from "./openapi.ts";
import { readyRoute } from "./ready.ts";

export const platformFeature: Feature = { routes: [openapiRoute, healthRoute, readyRoute] };
