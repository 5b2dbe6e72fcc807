import type { Feature } from "../feature.ts";
import { auditRoute } from "./audit.ts";
import { creditsRoute } from "./credits.ts";
import { organisationRoutes, userRoutes } from "./holders.ts";
import { tokenRoutes } from "./tokens.ts";

export const adminRoutes = [...organisationRoutes, ...userRoutes, ...tokenRoutes, creditsRoute, auditRoute];

export const adminFeature: Feature = { routes: adminRoutes };
