import type { Feature } from "../feature.ts";
import { adminRoutes } from "./admin-routes.ts";

export { type AdminApi, createAdminApi } from "./admin-api.ts";
export type { CallAnswer } from "./calls.ts";
export { readPeople } from "./people-file.ts";
export type { AdminRoute } from "./route-roles.ts";

export const adminFeature: Feature = { routes: adminRoutes };
