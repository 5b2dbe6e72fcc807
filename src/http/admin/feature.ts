import type { Feature } from "../feature.ts";
import { adminRoutes } from "./admin-routes.ts";
import { operatorRoutes } from "./operator/index.ts";

export const adminFeature: Feature = { routes: [...adminRoutes, ...operatorRoutes] };
