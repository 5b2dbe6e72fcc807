import type { Feature } from "../feature.ts";
import { geminiCountTokensRoutes } from "./count-tokens.ts";
import { generateContentRoutes, streamGenerateContentRoutes } from "./generate.ts";

export const geminiFeature: Feature = {
  routes: [...generateContentRoutes, ...streamGenerateContentRoutes, ...geminiCountTokensRoutes],
};
