import type { Feature } from "../feature.ts";
import { contentsRoute, pagesRoute } from "./documentation.ts";

export const documentationFeature: Feature = { routes: [contentsRoute, pagesRoute] };
