import type { Feature } from "../feature.ts";
import { geminiCountTokensRoutes } from "./count-tokens.ts";
import { batchEmbedContentsRoutes, embedContentRoutes } from "./embed-content.ts";
import { generateContentRoutes, streamGenerateContentRoutes } from "./generate.ts";

export const geminiFeature: Feature = {
  routes: [
    ...generateContentRoutes,
    ...streamGenerateContentRoutes,
    ...geminiCountTokensRoutes,
    ...embedContentRoutes,
    ...batchEmbedContentsRoutes,
  ],
};
