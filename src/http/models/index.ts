import type { Feature } from "../feature.ts";
import {
  formerGoogleRoutes,
  googleModelRoute,
  googleModelsRoute,
  litellmModelRoutes,
  modelRoute,
  modelsRoute,
} from "./models.ts";

export const modelsFeature: Feature = {
  routes: [modelsRoute, modelRoute, googleModelsRoute, googleModelRoute, ...formerGoogleRoutes, ...litellmModelRoutes],
};
