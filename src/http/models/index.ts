import type { Feature } from "../feature.ts";
import { modelRoute, modelsRoute } from "./models.ts";

export const modelsFeature: Feature = { routes: [modelsRoute, modelRoute] };
