import type { Feature } from "../feature.ts";
import { rerankRoutes } from "./rerank.ts";

export const rerankFeature: Feature = { routes: rerankRoutes };
