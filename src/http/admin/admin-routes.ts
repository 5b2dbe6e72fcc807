import { auditRoutes } from "./audit.ts";
import { bookRoutes } from "./books.ts";
import { budgetRoutes, groupRoutes } from "./budgets.ts";
import { callRoute, callsRoute } from "./calls/calls.ts";
import { creditsRoute } from "./credits.ts";
import { exportsRoute } from "./exports/exports.ts";
import { organisationRoutes, projectRoutes, userRoutes } from "./holders.ts";
import { peopleRoute } from "./people/people.ts";
import { batchRoutes } from "./batches.ts";
import { realtimeRoutes } from "./realtime.ts";
import { reloadRoute } from "./reload.ts";
import { tokenRoutes } from "./tokens.ts";
import { adminUsageRoute } from "./usage.ts";

export const adminRoutes = [
  ...organisationRoutes,
  ...userRoutes,
  ...projectRoutes,
  ...tokenRoutes,
  peopleRoute,
  ...groupRoutes,
  ...budgetRoutes,
  creditsRoute,
  ...bookRoutes,
  adminUsageRoute,
  callsRoute,
  callRoute,
  exportsRoute,
  ...auditRoutes,
  ...realtimeRoutes,
  ...batchRoutes,
  reloadRoute,
];
