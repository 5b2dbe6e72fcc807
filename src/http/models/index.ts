import type { Feature } from "../feature.ts";
import { modelsRoute } from "./models.ts";

export const modelsFeature: Feature = { routes: [modelsRoute] };
